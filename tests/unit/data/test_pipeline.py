"""Batches: the same bytes from wherever they start, and errors that reach the user."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import tensorflow as tf

from gantrain.data.catalog import Digits
from gantrain.data.memory import MemorySource
from gantrain.data.order import Order
from gantrain.data.pipeline import batches, data_errors
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DataError, UsageError
from gantrain.spec.model import Data

BYTES, UNIT = (0.0, 255.0), RangeTransform((0.0, 255.0), (-1.0, 1.0))
PICTURES = np.random.default_rng(0).integers(0, 256, (10, 3, 2, 1), np.uint8)
MEMORY = MemorySource(PICTURES, BYTES, np.arange(10) % 3, ("a", "b", "c"))


@dataclass
class Loaded:
    """The same pictures, but read on demand; `bad` ones cannot be read."""

    values: np.ndarray = field(default_factory=lambda: PICTURES)
    bad: tuple[int, ...] = ()
    labels: np.ndarray | None = field(default_factory=lambda: np.arange(10) % 3)
    class_names: tuple[str, ...] = ("a", "b", "c")
    value_range: tuple[float, float] | None = BYTES
    shape: tuple[int, ...] = (3, 2, 1)
    length: int = 10
    in_memory: None = None

    def load(self, indices: np.ndarray) -> np.ndarray:
        bad = set(self.bad) & set(indices.tolist())
        if bad:
            raise DataError(f"picture-{min(bad)}.png is damaged; remove it")
        return self.values[indices]

    def fingerprint(self) -> str:
        return ""


def data(**changes) -> Data:
    return Data(**{"source": Digits(), "batch_size": 4, **changes})


def taken(settings: Data, count: int, start: int = 0, source=MEMORY, order: Order | None = None) -> list[dict[str, np.ndarray]]:
    dataset = batches(source, settings, order or Order(0), start, True, UNIT)
    with data_errors(source):
        return list(dataset.take(count).as_numpy_iterator())


def same(first: list[dict[str, np.ndarray]], second: list[dict[str, np.ndarray]]) -> bool:
    pairs = zip(first, second, strict=True)
    return all(one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one) for one, two in pairs)


FLIPS = {"augment": {"horizontal_flip": True}}


@pytest.mark.parametrize(("source", "buffer"), [(MEMORY, "full"), (Loaded(), 5)], ids=["memory-full", "loaded-5"])
@pytest.mark.parametrize("epoch_end", ["continue", "partial", "drop"])
def test_batches_from_any_start_are_the_tail_of_all_batches(source, buffer, epoch_end):
    settings = data(shuffle_buffer=buffer, epoch_end=epoch_end, **FLIPS)
    everything = taken(settings, 9, source=MEMORY)
    for start in (1, 2, 3, 5):  # 10 examples in batches of 4: epochs end in, at and around these
        assert same(taken(settings, 9 - start, start, source), everything[start:])


def test_values_and_labels_belong_together_and_are_those_of_the_source():
    expected = {UNIT.forward(tf.constant(picture)).numpy().tobytes(): index for index, picture in enumerate(PICTURES)}
    for batch in taken(data(), 5):
        indices = [expected[picture.tobytes()] for picture in batch["real"]]
        assert batch["labels"].tolist() == [index % 3 for index in indices]


def test_types_and_static_shapes():
    spec = batches(MEMORY, data(), Order(0), 0, True, UNIT).element_spec
    assert (spec["real"].shape.as_list(), spec["real"].dtype) == ([4, 3, 2, 1], tf.float32)
    assert (spec["labels"].shape.as_list(), spec["labels"].dtype) == ([4], tf.int64)
    for source in (MEMORY, Loaded()):
        spec = batches(source, data(epoch_end="partial"), Order(0), 0, False, UNIT).element_spec
        assert {name: part.shape.as_list() for name, part in spec.items()} == {"real": [None, 3, 2, 1]}


def test_flips_mirror_about_half_of_the_examples_and_hang_on_epoch_and_example_only():
    flips = [_flips_by_example(batch_size) for batch_size in (4, 5)]
    assert flips[0] == flips[1]
    share = np.mean([flip for _, _, flip in flips[0]])
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(len(flips[0]))
    per_epoch = {epoch: tuple(flip for at, _, flip in sorted(flips[0]) if at == epoch) for epoch in range(20)}
    assert len(set(per_epoch.values())) > 15


def _flips_by_example(batch_size: int) -> list[tuple[int, int, bool]]:
    """Sorted (epoch, example, flipped) of 20 epochs; each value tells its example and its direction."""
    values = np.stack([[[index], [index + 100]] for index in range(10)]).astype(np.uint8).reshape(10, 1, 2, 1)
    source = MemorySource(values, BYTES, np.arange(10))
    dataset = batches(source, data(batch_size=batch_size, range=None, **FLIPS), Order(0), 0, True, RangeTransform(BYTES, None))
    left = np.concatenate([batch["real"][:, 0, 0, 0] for batch in dataset.take(200 // batch_size).as_numpy_iterator()])
    return sorted((place // 10, int(value) % 100, bool(value >= 100)) for place, value in enumerate(left))


def test_seed_and_attempt_change_what_comes():
    first = taken(data(), 3)
    assert same(first, taken(data(), 3))
    assert not same(first, taken(data(), 3, order=Order(1)))
    assert not same(first, taken(data(), 3, order=Order(0, 1)))


def test_a_data_error_while_loading_reaches_the_user_as_itself():
    with pytest.raises(DataError, match=r"^picture-7\.png is damaged; remove it$"):
        taken(data(), 3, source=Loaded(bad=(7,)))


def test_a_data_error_leaves_a_compiled_loop_as_itself():
    source = Loaded(bad=(7,))
    iterator = iter(batches(source, data(), Order(0), 0, False, UNIT))

    @tf.function
    def loop() -> tf.Tensor:
        total = tf.constant(0.0)
        for _ in tf.range(3):
            total += tf.reduce_sum(next(iterator)["real"])
        return total

    with pytest.raises(DataError, match=r"^picture-7\.png is damaged"), data_errors(source):
        loop()


def test_another_error_of_tensorflow_stays_what_it_is():
    with pytest.raises(tf.errors.InvalidArgumentError), data_errors(MEMORY):
        tf.reshape(tf.zeros(3), [2])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (PICTURES[:, :2], r"gave uint8 \(4, 2, 2, 1\) instead of uint8 \(4, 3, 2, 1\)"),
        (np.full((10, 3, 2, 1), np.nan, np.float32), "not finite"),
    ],
)
def test_a_source_that_gives_what_it_must_not_is_an_error(values: np.ndarray, message: str):
    with pytest.raises(DataError, match=message):
        taken(data(), 1, source=Loaded(values))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.full((10, 2), np.inf, np.float32), "not finite"),
        (np.zeros((10, 2), np.float64), "gave float64; uint8 or float32 is wanted"),
    ],
)
def test_an_array_in_memory_that_must_not_be_is_an_error(array: np.ndarray, message: str):
    with pytest.raises(DataError, match=message):
        batches(MemorySource(array, None), data(range=None), Order(0), 0, False, RangeTransform(None, None))


def test_what_cannot_work_is_refused_before_the_first_batch():
    with pytest.raises(UsageError, match="labels are needed, but the source has none"):
        batches(MemorySource(PICTURES, BYTES), data(), Order(0), 0, True, UNIT)
    vectors = MemorySource(np.zeros((10, 2), np.float32), None)
    with pytest.raises(UsageError, match="horizontal_flip is for pictures"):
        batches(vectors, data(range=None, **FLIPS), Order(0), 0, False, RangeTransform(None, None))


def test_a_strategy_gets_the_same_batches():
    expected = taken(data(**FLIPS), 4)
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        dataset = strategy.experimental_distribute_dataset(batches(MEMORY, data(**FLIPS), Order(0), 0, True, UNIT))
    iterator = iter(dataset)
    assert same([{name: part.numpy() for name, part in next(iterator).items()} for _ in range(4)], expected)


def test_the_array_in_memory_is_not_written_into_the_graph_of_the_dataset():
    source = MemorySource(np.zeros((1000, 32, 32, 1), np.uint8), BYTES)
    function = batches(source, data(), Order(0), 0, False, UNIT)
    graph = tf.function(lambda: next(iter(function))["real"]).get_concrete_function().graph.as_graph_def()
    assert graph.ByteSize() < 100_000
