"""One planted fault in a sound config, as people write them: each is caught by the name of its rule, at the line of the fault."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gantrain.spec.parse import inspect_spec
from gantrain.spec.problems import SpecError

GAN = """\
data:
  source: fashion_sample
  batch_size: 64
generator: {name: dcgan}
discriminator: {name: dcgan, norm: none}
training: {steps: 2000}
"""
AAE = """\
task: aae
data:
  source: fashion_sample
  batch_size: 64
encoder: {name: dcgan, norm: none}
decoder: {name: dcgan}
discriminator: {name: mlp}
prior: {name: normal, size: 8}
training: {steps: 2000}
"""
HISTORY = """\
task: history
data:
  source: {name: window_teacher, size: 1000}
  order: sequential
  batch_size: 32
model: {name: mlp, units: [32]}
training: {steps: 2000}
"""
BASES = {"gan": GAN, "aae": AAE, "history": HISTORY}
LEFT, RIGHT = "generator: {name: dcgan}", "discriminator: {name: dcgan, norm: none}"
STEPS, BATCH, END = "{steps: 2000}", "batch_size: 64", "training: {steps: 2000}\n"


def rate(schedule):
    return (END, f"{END}optimizers:\n  generator: {{name: adam, learning_rate: {{{schedule}}}}}\n")


def more(text):
    return (END, f"{END}{text}\n")


def folder(counts, more_settings="labels: folders"):
    """A source over a folder of pictures, made when the case runs."""
    return ("source: fashion_sample", ("folder", counts, more_settings))


# (rule, task, edits, the text that the finding's line holds); an edit replaces the first text by the second
FAULTS = [
    ("activation-range", "gan", [(LEFT, "generator: {name: dcgan, activation: sigmoid}")], "sigmoid"),
    ("activation-range", "gan", [(LEFT, "generator: {name: dcgan, activation: linear}")], "linear"),
    (
        "activation-range",
        "gan",
        [(BATCH, f"range: [0, 1]\n  {BATCH}"), (LEFT, "generator: {name: dcgan, activation: tanh}")],
        "tanh",
    ),
    ("activation-range", "gan", [(BATCH, f"range: [0, 255]\n  {BATCH}")], "255"),
    ("activation-range", "aae", [("decoder: {name: dcgan}", "decoder: {name: dcgan, activation: sigmoid}")], "decoder"),
    ("range-missing", "gan", [(BATCH, f"range: null\n  {BATCH}")], "range"),
    ("reconstruction-range", "aae", [more("objective: {reconstruction: binary_cross_entropy}")], "binary"),
    ("minimax-vanishing", "gan", [more("objective: {loss: minimax}")], "minimax"),
    ("wasserstein-unconstrained", "gan", [more("objective: {loss: wasserstein}")], "wasserstein"),
    ("wasserstein-unconstrained", "gan", [more("objective: {loss: wasserstein, penalties: [lecam]}")], "wasserstein"),
    ("wasserstein-unconstrained", "aae", [more("objective: {loss: wasserstein}")], "wasserstein"),
    *[
        ("penalty-batchnorm", "gan", [(RIGHT, "discriminator: dcgan"), more(f"objective: {{penalties: [{name}]}}")], name)
        for name in ("r1", "r2", "gradient_penalty", "dragan")
    ],
    ("float16-penalty", "gan", [(STEPS, "{steps: 9, precision: mixed_float16}\nobjective: {penalties: [r1]}")], "r1"),
    ("buffer-too-small", "gan", [(BATCH, f"shuffle_buffer: 999\n  {BATCH}")], "999"),
    ("buffer-too-small", "aae", [(BATCH, f"shuffle_buffer: 64\n  {BATCH}")], "shuffle_buffer"),
    ("buffer-too-small", "history", [("order: sequential", "order: shuffled\n  shuffle_buffer: 64")], "shuffle_buffer"),
    ("batch-exceeds-data", "gan", [(BATCH, "batch_size: 4001")], "4001"),
    ("batch-exceeds-data", "aae", [(BATCH, "batch_size: 4001")], "4001"),
    ("batch-exceeds-data", "history", [("batch_size: 32", "batch_size: 1001")], "1001"),
    (
        "zero-steps",
        "gan",
        [(BATCH, "epoch_end: drop\n  batch_size: 4000"), (STEPS, "{epochs: 1, discriminator_steps: 5}")],
        "epochs",
    ),
    ("indivisible-batch", "gan", [(STEPS, "{steps: 9, accumulate: 7}")], "accumulate"),
    ("indivisible-batch", "gan", [(BATCH, f"epoch_end: partial\n  {BATCH}"), (STEPS, "{steps: 9, accumulate: 4}")], "accumulate"),
    ("tiny-data", "gan", [folder({".": 40}, "labels: null")], "source"),
    ("tiny-data", "aae", [folder({".": 40}, "labels: null")], "source"),
    ("split-as-class", "gan", [folder({"train": 3, "test": 2})], "source"),
    ("split-as-class", "aae", [folder({"Train": 3, "Val": 2, "TEST": 1})], "source"),
    ("single-class", "gan", [folder({"cat": 3}), (LEFT, "generator: {name: dcgan, conditioning: embedding}")], "source"),
    (
        "labels-missing",
        "gan",
        [folder({".": 3}, "labels: null"), (RIGHT, "discriminator: {name: dcgan, conditioning: projection}")],
        "disc",
    ),
    (
        "labels-missing",
        "gan",
        [folder({"a": 2, "b": 2}, "labels: null"), (LEFT, "generator: {name: dcgan, conditioning: embedding}")],
        "gen",
    ),
    ("labels-half-used", "gan", [(LEFT, "generator: {name: dcgan, conditioning: embedding}")], "discriminator"),
    ("labels-unused", "gan", [], "source"),
    ("prior-modes", "aae", [("normal, size: 8", "gaussian_mixture, size: 2, modes: 5, by_label: true")], "modes"),
    ("prior-label-unread", "aae", [("normal, size: 8", "gaussian_mixture, size: 2, modes: 10, by_label: true")], "discriminator"),
    ("batchnorm-small-batch", "gan", [(BATCH, "batch_size: 1")], "batch_size"),
    ("batchnorm-small-batch", "aae", [(BATCH, "batch_size: 1")], "batch_size"),
    ("batchnorm-small-batch", "gan", [(STEPS, "{steps: 9, accumulate: 64}")], "accumulate"),
    ("batchnorm-inference", "gan", [(STEPS, "{steps: 9, generator_mode: inference}")], "inference"),
    ("batchnorm-accumulate", "gan", [(STEPS, "{steps: 9, accumulate: 4}")], "accumulate"),
    ("ema-longer-than-run", "gan", [(STEPS, "{steps: 9, ema: {half_life_images: 1e6, ramp: null}}")], "ema"),
    ("learning-rate-range", "gan", [more("optimizers: {generator: {name: adam, learning_rate: 0.2}}")], "0.2"),
    ("learning-rate-range", "gan", [more("optimizers: {discriminator: {name: sgd, learning_rate: 1e-9}}")], "1e-9"),
    ("learning-rate-range", "gan", [rate("name: cosine, start: 0.5, images: 128000")], "cosine"),
    ("learning-rate-range", "history", [more("optimizers: {model: {name: adam, learning_rate: 3}}")], "3"),
    ("beta-range", "gan", [more("optimizers: {generator: {name: adam, beta_1: 0.99}}")], "beta_1"),
    ("beta-range", "aae", [more("optimizers: {regularisation: {name: adam, beta_2: 0.5}}")], "beta_2"),
    ("schedule-mismatch", "gan", [rate("name: cosine, start: 2e-4, images: 64000")], "cosine"),
    ("schedule-mismatch", "gan", [rate("name: cosine, start: 2e-4, images: 1e7")], "cosine"),
    ("schedule-mismatch", "gan", [rate("name: linear, start: 2e-4, end: 1e-6, images: 12800")], "linear"),
    ("schedule-mismatch", "gan", [rate("name: constant, start: 2e-4, warmup_images: 1e6")], "constant"),
    ("interval-exceeds-run", "gan", [more("output: {sample_every: 3000}")], "sample_every"),
    ("interval-exceeds-run", "history", [more("output: {checkpoint_every: 3000}")], "checkpoint_every"),
    ("replay-exceeds-run", "gan", [more("replay: {size: 500000}")], "size"),
    ("latent-size", "gan", [more("latent: {size: 1}")], "latent"),
    ("latent-size", "gan", [more("latent: {size: 785}")], "latent"),
    ("code-size", "aae", [("size: 8", "size: 784")], "prior"),
    ("size-implausible", "aae", [more("output: {keep_last: 100000}")], "keep_last"),
    ("size-unbuildable", "gan", [(LEFT, "generator: {name: dcgan, stages: 6}")], "generator"),
    ("size-unbuildable", "aae", [("encoder: {name: dcgan, norm: none}", "encoder: {name: dcgan, stages: 6}")], "encoder"),
    ("penalty-duplicate", "aae", [more("objective: {penalties: [r1, r1]}")], "penalties"),
    ("output-unwritable", "history", [more("output: {dir: planted.yaml/runs}")], "dir"),
    ("target-size", "history", [more("objective: {loss: mse}")], "mse"),
    ("unknown-key", "gan", [(BATCH, "batchsize: 64")], "batchsize"),
    ("unknown-key", "gan", [("training:", "Training:")], "Training"),
    ("unknown-key", "gan", [(LEFT, "generator: {name: dcgan, base_with: 8}")], "base_with"),
    ("unknown-name", "gan", [(LEFT, "generator: dcgn")], "dcgn"),
    ("unknown-name", "gan", [more("objective: {loss: wgan}")], "wgan"),
    ("unknown-name", "gan", [more("objective: {penalties: [gp]}")], "gp"),
    ("unknown-name", "gan", [more("optimizers: {generator: Adam}")], "Adam"),
    ("unknown-name", "gan", [(STEPS, "{steps: 9, fakes: shard}")], "shard"),
    ("unknown-name", "gan", [more("ignore: [tiny_data]")], "tiny_data"),
    ("wrong-type", "gan", [(BATCH, "batch_size: sixty-four")], "sixty"),
    ("wrong-type", "gan", [(BATCH, "batch_size: [64]")], "64"),
    ("wrong-type", "gan", [(BATCH, "batch_size: 64.5")], "64.5"),
    ("wrong-type", "gan", [(STEPS, "{steps: true}")], "true"),
    ("wrong-type", "gan", [(STEPS, "{steps: 9, jit: yes}")], "yes"),
    ("wrong-type", "gan", [(STEPS, "2000")], "2000"),
    ("out-of-range", "gan", [(BATCH, "batch_size: -1")], "-1"),
    ("out-of-range", "gan", [more("optimizers: {generator: {name: adam, learning_rate: .nan}}")], "nan"),
    ("duplicate-key", "gan", [(BATCH, f"{BATCH}\n  batch_size: 32")], "32"),
    ("duplicate-key", "gan", [(LEFT, "generator: {name: dcgan, name: mlp}")], "mlp"),
    ("missing-key", "gan", [(f"{LEFT}\n", "")], "data"),
    ("missing-key", "gan", [(LEFT, "generator: {base_width: 8}")], "base_width"),
    ("yaml-syntax", "gan", [(f"  {BATCH}", f"\t{BATCH}")], "batch_size"),
    ("yaml-syntax", "gan", [(BATCH, "batch_size: *size")], "*size"),
    ("yaml-syntax", "gan", [(f"  {BATCH}", f"    {BATCH}")], "batch_size"),
    ("steps-or-epochs", "gan", [(STEPS, "{steps: 9, epochs: 3}")], "epochs"),
    ("source-unreadable", "gan", [("fashion_sample", "{name: image_folder, path: no, height: 8, width: 8}")], "source"),
    ("evaluation-unavailable", "gan", [more("output: {evaluate_every: 10}")], "evaluate_every"),
]


def planted(tmp_path, task, edits):
    text = BASES[task]
    for old, new in edits:
        assert old in text
        text = text.replace(old, f"source: {made_folder(tmp_path, *new[1:])}" if isinstance(new, tuple) else new)
    file = tmp_path / "planted.yaml"
    file.write_text(text)
    return file


def made_folder(tmp_path, counts, settings):
    root = tmp_path / "pictures"
    for name, count in counts.items():
        (root / name).mkdir(parents=True)
        for index in range(count):
            Image.fromarray(np.full([8, 8, 3], 25 * (index % 10), np.uint8)).save(root / name / f"{index}.png")
    return f"{{name: image_folder, path: pictures, height: 16, width: 16, {settings}}}"


def problems_of(file):
    try:
        return inspect_spec(file)[1]
    except SpecError as error:
        return error.problems


@pytest.mark.parametrize(("rule", "task", "edits", "marked"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_planted_fault_is_caught_by_name_at_its_line(tmp_path, monkeypatch, rule, task, edits, marked):
    monkeypatch.chdir(tmp_path)
    file = planted(tmp_path, task, edits)
    found = [problem for problem in problems_of(file) if problem.rule == rule]
    assert found
    assert found[0].file == str(file)
    assert marked in file.read_text().splitlines()[found[0].line - 1]


@pytest.mark.parametrize("task", BASES)
def test_the_sound_configs_of_these_tests_give_no_error_and_no_warning(tmp_path, task):
    assert [problem for problem in problems_of(planted(tmp_path, task, [])) if problem.severity != "note"] == []
