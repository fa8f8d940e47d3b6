"""A plugin's component that fails, or gives what it must not, is said when the experiment is built, in words, with its line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gantrain import plugins, registry
from gantrain.errors import UsageError
from gantrain.interfaces import LossSettings
from tests.helpers import tiny_experiment

CODE = '''
import tensorflow as tf
from gantrain.interfaces import *
from gantrain.registry import register

@register("{kind}", "mine")
class Mine({base}):
    """Mine."""

    def build(self):
        {body}
'''
GOOD = "tf.nn.relu(1 - r) + tf.nn.relu(1 + f)"
LINE = 11  # of the body


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield
    for module in list(plugins._loaded):
        registry.forget(module)
        del plugins._loaded[module]
        sys.modules.pop(module, None)


def write(tmp_path, kind, base, body):
    (tmp_path / "mine.py").write_text(CODE.format(kind=kind, base=base, body=body))
    return tmp_path / "mine.py"


def build(tmp_path, kind, base, body, key=None, many=False):
    write(tmp_path, kind, base, body)
    plugins.load(["./mine.py"], tmp_path, allow=True)
    return tiny_experiment({key or f"objective.{kind}": [{"name": "mine"}] if many else {"name": "mine"}})


def loss(tmp_path, discriminator=GOOD, generator="-f"):
    return build(tmp_path, "loss", "LossSettings", f"return Loss(lambda r, f: {discriminator}, lambda r, f: {generator})")


def test_a_loss_of_the_promised_form_is_built(tmp_path):
    loss(tmp_path)


def test_a_builder_that_raises_is_named_with_kind_name_file_and_line(tmp_path):
    with pytest.raises(UsageError) as caught:
        build(tmp_path, "loss", "LossSettings", "return {}['a']")
    assert str(caught.value) == f"loss mine ({tmp_path / 'mine.py'}:{LINE}): KeyError: 'a'; correct the plugin"


@pytest.mark.parametrize("side", ["discriminator", "generator"])
@pytest.mark.parametrize(
    ("code", "words"), [("f.none_such", "AttributeError"), ("f.numpy() * f", "AttributeError"), ("1 / 0", "Zero")]
)
def test_a_loss_that_fails_when_the_step_is_traced_is_named_with_its_line(tmp_path, side, code, words):
    with pytest.raises(UsageError) as caught:
        loss(tmp_path, **{side: code})
    assert str(caught.value).startswith(f"loss mine ({tmp_path / 'mine.py'}:{LINE}): {words}")
    assert str(caught.value).endswith("; correct the plugin")


@pytest.mark.parametrize("side", ["discriminator", "generator"])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("tf.reduce_mean(f)", r"gives \[\] float32"),
        ("f[:, None]", r"gives \[3, 1\] float32"),
        ("f[:, None] - r[None]", r"gives \[3, 3\] float32"),
        ("tf.cast(f, tf.float64)", r"gives \[3\] float64"),
        ("0.5", "gives float"),
        ("None", "gives NoneType"),
        ("[f, f, f]", "gives list"),
        ("tf.boolean_mask(r + f, f > 0)", r"gives \[2\] float32"),
        ("tf.stop_gradient(r + f)", "gives no gradient to the .*fake logits"),
    ],
)
def test_a_loss_that_gives_something_else_hears_what_came_and_what_must(tmp_path, side, code, words):
    with pytest.raises(UsageError, match=words) as caught:
        loss(tmp_path, **{side: code})
    assert f"loss mine ({tmp_path / 'mine.py'}" in str(caught.value)
    if "gives" in words and "gradient" not in words:
        assert f"the {side}'s loss gives" in str(caught.value)
        assert "must give [3] float32 ([B], one loss per example)" in str(caught.value)


def test_a_discriminators_loss_must_read_both_logits(tmp_path):
    with pytest.raises(UsageError, match="no gradient to the real logits"):
        loss(tmp_path, discriminator="f * f")


def test_a_builder_that_returns_no_loss_is_the_plugins_error(tmp_path):
    with pytest.raises(UsageError, match=r"loss mine .*AttributeError: .*'discriminator'; correct the plugin"):
        build(tmp_path, "loss", "LossSettings", "return 3.0")


PENALTY, REGULARISER, CONSTRAINT, PRIOR = (
    ("penalty", "PenaltySettings", "objective.penalties", True),
    ("regulariser", "RegulariserSettings", "objective.regularisers", True),
    ("constraint", "ConstraintSettings", "objective.constraints", True),
    ("prior", "PriorSettings", "latent.distribution", False),
)


@pytest.mark.parametrize(
    ("component", "code", "words"),
    [
        (PENALTY, "lambda c: c.critic(c.real) ** 2", None),
        (PENALTY, "lambda c: tf.reduce_mean(c.critic(c.real))", r"gives \[\] float32 .* must give \[3\] float32"),
        (PENALTY, "lambda c: c.none_such", "penalty mine .*:11.*AttributeError"),
        (REGULARISER, "lambda v: tf.add_n([tf.reduce_sum(x) for x in v])", None),
        (REGULARISER, "lambda v: v[0]['a']", "regulariser mine .*:11"),
        (REGULARISER, "lambda v: tf.zeros([2])", r"gives \[2\] float32 .* must give \[\] float32"),
        (CONSTRAINT, "lambda v: [x.assign(x * 0) for x in v] and None", None),
        (CONSTRAINT, "lambda v: v[0].none_such", "constraint mine .*:11.*AttributeError"),
        (PRIOR, "lambda n, z, key: tf.random.stateless_normal([n, z], key)", None),
        (PRIOR, "lambda n, z, key: tf.zeros([n])", r"prior mine .* gives \[(3|None)\] float32 .* must give \[3, 4\] float32"),
        (PRIOR, "lambda n, z, key: tf.zeros([n, z], tf.float64)", "float64"),
        (PRIOR, "lambda n, z, key: {}['a']", "prior mine .*:11.*KeyError"),
    ],
)
def test_the_other_components_are_tried_as_well(tmp_path, component, code, words):
    kind, base, key, many = component
    if words is None:
        experiment = build(tmp_path, kind, base, f"return {code}", key, many)
        assert any(variable.numpy().any() for variable in experiment.discriminator.trainable.values())  # a trial changes nothing
        return
    with pytest.raises(UsageError, match=words):
        build(tmp_path, kind, base, f"return {code}", key, many)


def test_what_one_of_our_builders_raises_stays_a_bug_of_ours():
    class Ours(LossSettings):
        """Ours."""

        def build(self):
            raise KeyError("a")

    Ours.__module__ = "gantrain.of_this_test"
    registry.register("loss", "of_this_test")(Ours)
    try:
        with pytest.raises(KeyError):
            registry.build(Ours())
    finally:
        registry.forget("gantrain.of_this_test")


def test_the_command_ends_with_two_and_makes_no_run_directory(tmp_path):
    write(tmp_path, "loss", "LossSettings", "return Loss(lambda r, f: r.none_such, lambda r, f: f)")
    (tmp_path / "spec.yaml").write_text(
        "data: {source: digits}\ngenerator: mlp\ndiscriminator: mlp\nlatent: {size: 4}\ntraining: {steps: 2}\n"
        "plugins: [./mine.py]\nobjective: {loss: mine}\n"
    )
    command = [sys.executable, "-m", "gantrain", "fit", "spec.yaml", "--allow-plugins"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    assert f"loss mine ({tmp_path / 'mine.py'}:{LINE}): AttributeError" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) in ([], ["config"])
