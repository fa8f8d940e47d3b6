"""What the README shows is true: its YAML can be trained, states the defaults, and its plugin works."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from gantrain import plugins, registry
from gantrain.spec import rule_table
from gantrain.spec.parse import load_spec_text
from gantrain.spec.problems import PARSE_RULES
from gantrain.spec.trees import diff_trees, resolved_tree

README = (Path(__file__).parents[2] / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_yaml_of_the_readme_states_the_defaults(tmp_path):
    full = next(block for block in blocks("yaml") if block.startswith("name:"))
    short = "data: {source: fashion_sample}\ngenerator: dcgan\ndiscriminator: dcgan\ntraining: {steps: 2500}\n"
    shown = load_spec_text(full, "quickstart.yaml")
    default = load_spec_text(short, "quickstart.yaml")
    trees = [resolved_tree(loaded.spec, tmp_path) for loaded in (default, shown)]
    assert diff_trees(*trees) == []


def test_the_example_for_own_pictures_lacks_only_the_pictures(tmp_path):
    example = next(block for block in blocks("yaml") if "mine.yaml" in block)
    (tmp_path / "photos").mkdir()
    for number in range(1000):
        (tmp_path / "photos" / f"{number}.png").write_bytes(b"only names are looked at")
    assert load_spec_text(example, str(tmp_path / "mine.yaml")).warnings == []


def test_the_example_of_task_aae_lacks_only_the_pictures(tmp_path):
    example = next(block for block in blocks("yaml") if "codes.yaml" in block)
    for folder, count in (("photos", 1000), ("unseen", 1)):
        (tmp_path / folder).mkdir()
        for number in range(count):
            (tmp_path / folder / f"{number}.png").write_bytes(b"only names are looked at")
    assert load_spec_text(example, str(tmp_path / "codes.yaml")).warnings == []


def test_the_example_of_task_history_lacks_only_the_data(tmp_path):
    example = next(block for block in blocks("yaml") if "windows.yaml" in block)
    ids = np.repeat(np.arange(4), 250)
    np.savez(tmp_path / "data.npz", inputs=np.zeros([1000, 32]), targets=np.ones(1000), ids=ids)
    loaded = load_spec_text(example, str(tmp_path / "windows.yaml"))
    assert loaded.warnings == []
    plain = "task: history\ndata: {source: {name: arrays, path: data.npz, key: inputs, targets_key: targets, sequence_key: ids}, "
    short = plain + "order: sequential, batch_size: 32, epoch_end: partial}\nmodel: mlp\ntraining: {epochs: 100}\n"
    default = load_spec_text(short, str(tmp_path / "windows.yaml"))
    assert diff_trees(*(resolved_tree(item.spec, tmp_path) for item in (default, loaded))) == []


def test_the_plugin_of_the_readme_registers_its_loss(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "mine.py").write_text(blocks("python")[0])
    loaded = plugins.load(["./mine.py"], tmp_path, allow=True)
    try:
        settings = registry.find("loss", "squared_hinge").settings(margin=2.0)
        loss = registry.build(settings)
        assert float(loss.discriminator(1.0, -1.0)) == 2.0  # (2-1)^2 + (2-1)^2
        assert float(loss.generator(1.0, -1.0)) == 1.0
    finally:
        registry.forget(loaded[0].module)


def test_the_loop_with_capture_runs_as_it_stands():
    import keras

    example = next(block for block in blocks("python") if "gantrain.capture" in block)
    judge = keras.Sequential([keras.layers.Dense(1)])
    judge.trainable = False
    gan = keras.Sequential([keras.Input((2,)), keras.Sequential([keras.layers.Dense(3)]), judge])
    gan.compile("sgd", "mse")
    names = {"gan": gan, "steps": 2, "latents": np.ones([4, 2], "float32"), "ones": np.ones([4, 1], "float32")}
    exec(example, names)
    assert names["fake"].shape == (4, 3)


def test_the_table_of_rules_is_that_of_the_code():
    assert tuple(rule_table.PARSE_WORDS) == PARSE_RULES
    assert rule_table.markdown() in README
    assert all(words for *_, words in rule_table.rows())


ISSUE = """
activation-range logits-activation minimax-vanishing wasserstein-unconstrained penalty-batchnorm second-derivative
buffer-too-small batch-exceeds-data zero-steps indivisible-batch single-class labels-unused labels-missing
split-as-class batchnorm-small-batch batchnorm-inference batchnorm-accumulate batchnorm-unsynchronised
ema-longer-than-run learning-rate-range beta-range schedule-mismatch interval-exceeds-run replay-exceeds-run
float16-penalty tiny-data latent-size size-unbuildable disk-space output-unwritable unknown-key unknown-name wrong-type
duplicate-key gradient-none gradient-nonfinite variable-shared wrong-net-updated output-shape output-range
not-repeatable penalty-gradient
"""


def test_names_of_rules_that_were_promised_are_there():
    assert set(ISSUE.split()) <= {name for name, *_ in rule_table.rows()}
