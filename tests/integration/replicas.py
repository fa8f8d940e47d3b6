"""Steps of a tiny GAN on one and on two logical CPUs, for test_replicas.py: python -m tests.integration.replicas OUT.npz."""

from __future__ import annotations

import sys

import numpy as np
import tensorflow as tf

from tests.helpers import tiny_experiment

STEPS, BATCH = 5, 8
SGD = {role: {"name": "sgd", "learning_rate": 0.1, "momentum": 0.5} for role in ("generator", "discriminator")}


def main(out: str) -> None:
    """Save all variables under `one/...`, and under `two0/...` and `two1/...` those of each of two replicas."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    reduction = tf.distribute.ReductionToOneDevice()
    two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=reduction)
    np.savez(out, **trained(tf.distribute.get_strategy(), ["one"]), **trained(two, ["two0", "two1"]))


def trained(strategy: tf.distribute.Strategy, names: list[str]) -> dict[str, np.ndarray]:
    """Values of every variable and the last facts, per replica."""
    with strategy.scope():
        experiment = tiny_experiment({"training.ema": None, "training.clip_norm": 0.5, "optimizers": SGD})
    step = experiment.engine.step
    shape = (STEPS, len(names), BATCH // len(names), 8, 8, 1)
    reals = np.random.default_rng(0).uniform(-1, 1, STEPS * BATCH * 64).astype(np.float32).reshape(shape)

    @tf.function(autograph=False)
    def run(number, real):
        return strategy.run(step, args=([{"real": real}], number))

    for number, parts in enumerate(reals):
        mine = strategy.experimental_distribute_values_from_function(
            lambda c, p=parts: tf.constant(p[c.replica_id_in_sync_group])
        )
        result = run(tf.constant(number, tf.int64), mine)
    values = {**experiment.state, "facts": result.facts}
    return {
        f"{name}/{key}": local.numpy()
        for key, value in values.items()
        for name, local in zip(names, strategy.experimental_local_results(value), strict=True)
    }


if __name__ == "__main__":
    main(sys.argv[1])
