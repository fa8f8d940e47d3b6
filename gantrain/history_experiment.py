"""Composition root of task `history`: its spec becomes network, optimizer, step, data and state."""

from __future__ import annotations

from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.data.pairing import pairing_of
from gantrain.data.pipeline import Order, batches
from gantrain.data.transforms import RangeTransform
from gantrain.errors import UsageError
from gantrain.interfaces import NetContext, Source
from gantrain.keys import short_seed
from gantrain.manifest import DataFacts
from gantrain.pictures import Pictures
from gantrain.spec.arithmetic import total_steps
from gantrain.spec.history import HistorySpec
from gantrain.training.engine import Engine
from gantrain.training.history_assembly import history_state, make_history_engine, make_history_parts, window_form
from gantrain.training.history_wiring import check_history
from gantrain.training.nets import Net
from gantrain.training.predicting import Predictor, as_picture
from gantrain.training.progress import Progress
from gantrain.training.wiring import built


@dataclass(frozen=True)
class HistoryExperiment:
    """Everything a run needs, built but not started. `state` is what a checkpoint saves, key -> variable."""

    spec: HistorySpec
    source: Source
    transform: RangeTransform
    data_facts: DataFacts
    model: Net
    progress: Progress
    engine: Engine
    predictor: Predictor
    state: dict[str, tf.Variable]
    total_steps: int
    health: None = None  # nothing is known of what a healthy run looks like
    stops_when_unhealthy: bool = False

    @property
    def images_per_step(self) -> int:
        """Examples consumed by one step."""
        return self.spec.data.batch_size

    def start_data(self) -> None:
        """Give the engine the batches that come at the current step."""
        order = Order(self.spec.seed, int(self.progress.attempt.numpy()))
        first = int(self.progress.step.numpy())
        self.engine.start(iter(batches(self.source, self.spec.data, order, first, False, self.transform)))

    def score(self) -> dict[str, float]:
        """None so far."""
        return {}

    def describe(self) -> str:
        """The network and its loss, in one line."""
        window, spec = self.spec.history, self.spec
        loss = registry.row_of(spec.objective.loss).name
        count = sum(int(tf.size(variable)) for variable in self.model.trainable.values())
        return (
            f"model {registry.row_of(spec.model).name} {count:,} parameters, loss {loss} of the last"
            f" {window.length} outputs of {spec.window.size} (unit {window.unit}, gradient {window.gradient}, "
            f"start {window.start}, reset {window.reset}), order {spec.data.order}"
        )

    def how_to_use(self, run: object) -> str:
        """What to do with a finished run."""
        return f"predict with it: gantrain predict {run} INPUTS"

    def drawings(self, pictures: Pictures) -> dict[str, np.ndarray]:
        """Z of the first examples of the data, a row each, uint8 [H,W,1]."""
        del pictures
        indices = np.arange(min(self.spec.output.sample_count, self.source.length))
        pairing = pairing_of(self.source)
        sequences = None if pairing is None or pairing.sequences is None else pairing.sequences[indices]
        inputs = self.transform.forward(tf.constant(self.source.load(indices))).numpy()
        return {"": as_picture(self.predictor.predict(inputs, sequences).z)}


def build_history(spec: HistorySpec, source: Source) -> HistoryExperiment:
    """Build network, optimizer, step and state for data of `source`. Raises UsageError."""
    data_facts, pairing = DataFacts.of(source, spec.data.range), pairing_of(source)
    if pairing is None:
        raise UsageError("task history needs a source with targets; take arrays with targets_key, or csv with targets")
    with tf.distribute.get_strategy().scope():
        model = build_model(spec, data_facts)
        check_history(spec, model, data_facts.shape, pairing.size)
        parts = make_history_parts(spec, model)
        engine = make_history_engine(spec, model, parts, pairing)
    return HistoryExperiment(
        spec=spec,
        source=source,
        transform=RangeTransform(data_facts.source_range, data_facts.network_range),
        data_facts=data_facts,
        model=model,
        progress=parts.progress,
        engine=engine,
        predictor=Predictor(model.model, window_form(spec), data_facts.shape),
        state=history_state(model, parts),
        total_steps=total_steps(spec, source.length),
    )


def build_model(spec: HistorySpec, data: DataFacts) -> Net:
    """The network of a spec; its weights depend only on the seed."""
    context = NetContext(data.shape, 0, None, data.network_range, spec.training.precision)
    keras.utils.set_random_seed(short_seed(spec.seed, "init/model"))
    return built("model", lambda: registry.build(spec.model, context))
