"""Hypothesis against everything that reads what it did not write: an answer or an error of ours, never anything else.

Cases that were found stay as `@example`. Seconds by default, minutes in the slow tier.
"""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from gantrain.data.catalog import ImageFolder
from gantrain.data.image_folder import build
from gantrain.errors import DataError, RunError
from gantrain.manifest import DataFacts, FileFacts, Manifest
from gantrain.rundir.metrics import MetricsLog
from gantrain.rundir.proofs import Proof, Proofs
from gantrain.rundir.record import RunRecord
from gantrain.spec.loading import load_text
from gantrain.spec.parse import load_spec_text
from gantrain.spec.problems import SpecError

TIERS = [pytest.param(30, id="seconds"), pytest.param(3000, id="minutes", marks=pytest.mark.slow)]
MANIFEST = Manifest(
    step=5,
    data=DataFacts(shape=(2,), dtype="float32", source_range=None, network_range=None, fingerprint="f"),
    files={"state.index": FileFacts(bytes=3, sha256="00")},
).to_json()
PIECES = [
    "data:",
    "{",
    "}",
    "[",
    "]",
    "- ",
    "\n  ",
    ": ",
    "&a ",
    "*a",
    "<<: ",
    "!!python/object:os.system ",
    "'",
    '"',
    "|",
    "\t",
    "\\U",
    "1e999",
]
YAML = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=40).map("".join)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(list(json.loads(MANIFEST))), inner, max_size=9)
    ),
)


def mutations(whole: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with a piece replaced by others."""
    parts = st.tuples(st.integers(0, len(whole)), st.integers(0, 20), st.binary(max_size=20))
    return parts.map(lambda part: whole[: part[0]] + part[2] + whole[part[0] + part[1] :])


def fuzzed(count: int, *arguments, examples=()):
    """Run the decorated function over `arguments` at once."""

    def run(function):
        test = settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))(
            given(*arguments)(function)
        )
        for found in examples:
            test = example(found)(test)
        test()

    return run


@pytest.mark.parametrize("count", TIERS)
def test_any_text_is_a_spec_or_problems_with_places(count):
    @fuzzed(
        count,
        YAML,
        examples=["\\U", "&a [*a]", "? [a]: b", "<<: *a", "- !!binary x", '"\\UFFFFFFFF"', "%YAML 9.9\n---", "\x85", "&a &b x"],
    )
    def _(text: str) -> None:
        loaded = load_text(text, "x.yaml")
        assert all(problem.line >= 1 and problem.message for problem in loaded.problems)
        with pytest.raises(SpecError):  # nothing short is a whole spec
            load_spec_text(text, "x.yaml")


@pytest.mark.parametrize("count", TIERS)
@pytest.mark.parametrize("reader", [Manifest.load, RunRecord.load], ids=["manifest", "record"])
def test_any_bytes_are_a_manifest_or_damage(count, reader, tmp_path):
    path = tmp_path / "x.json"

    def judge(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = reader(path)
        except RunError as error:
            named = str(path) in str(error)
            assert named, data
        else:
            assert found == Manifest.model_validate({k: v for k, v in json.loads(MANIFEST).items() if k != "sha256"})

    fuzzed(
        count, st.one_of(st.binary(max_size=60), mutations(MANIFEST.encode())), examples=[b"", b"{", b"NaN", b'{"sha256": []}']
    )(judge)
    fuzzed(count, JSON.map(lambda tree: json.dumps(tree).encode()), examples=[b'{"format": 1e400, "sha256": ""}'])(judge)


@pytest.mark.parametrize("count", TIERS)
def test_any_bytes_are_proofs_and_metrics_or_damage(count, tmp_path):
    proofs = Proofs(tmp_path)
    line = Proof.of("spec.yaml", b"x").line().encode() + b"\n"

    @fuzzed(count, st.one_of(st.binary(max_size=60), mutations(line)), examples=[b"", b"\n", b"{}\n", b'{"step": true}\n'])
    def _(data: bytes) -> None:
        proofs.path.write_bytes(data)
        assert all(str(path) in problem for path, problem in proofs.judge().items())
        log = MetricsLog(tmp_path / "metrics.jsonl")
        log.path.write_bytes(data)
        kept = len(log.read())
        assert log.cut_back(10**9) == (kept, 0, log.cut_back(10**9).damaged) or kept == len(log.read())


@pytest.mark.parametrize("count", TIERS)
def test_any_pictures_are_data_or_named(count, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    whole: dict[str, bytes] = {}
    for suffix in ("png", "jpg", "gif", "bmp", "tif", "webp"):
        for index in range(2):
            Image.new("RGB", (8, 8), (index, 2, 3)).save(folder / f"{index}.{suffix}")
        whole[suffix] = (folder / f"0.{suffix}").read_bytes()
    names = st.sampled_from(sorted(whole))

    @fuzzed(max(count // 10, 5), names.flatmap(lambda suffix: st.tuples(st.just(suffix), mutations(whole[suffix]))))
    def _(case: tuple[str, bytes]) -> None:
        suffix, data = case
        (folder / f"0.{suffix}").write_bytes(data)
        try:
            source = build(ImageFolder(path="pictures", height=8, width=8, channels=3), tmp_path)
            assert source.shape == (8, 8, 3)
        except DataError as error:
            named = "pictures" in str(error)
            assert named, case
        finally:
            (folder / f"0.{suffix}").write_bytes(whole[suffix])
            os.utime(folder / f"0.{suffix}")
