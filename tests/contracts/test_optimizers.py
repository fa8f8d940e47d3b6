"""Every registered optimizer: moves against the gradient, lists its state, and goes on exactly from restored state."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry

NAMES = registry.names("optimizer")
GRADIENTS = [[0.5, -1.0, 2.0], [-0.25, 0.75, 1.0], [1.0, 1.0, -1.0], [0.125, 0.5, 0.25]]


def made(name):
    row = registry.find("optimizer", name)
    assert row is not None
    variables = {"net/kernel": tf.Variable([1.0, 2.0, 3.0]), "net/other": tf.Variable([[1.0, -1.0, 0.0]])}
    return registry.build(row.settings(), variables), variables


def update(optimizer, gradient):
    optimizer.apply([tf.constant(gradient), tf.constant([gradient])], tf.constant(0.01))


def bytes_of(variables):
    return {key: variable.numpy().tobytes() for key, variable in variables.items()}


@pytest.mark.parametrize("name", NAMES)
def test_the_first_update_moves_every_number_against_its_gradient(name):
    optimizer, variables = made(name)
    before = variables["net/kernel"].numpy()
    update(optimizer, GRADIENTS[0])
    moved = variables["net/kernel"].numpy() - before
    assert (np.sign(moved) == -np.sign(GRADIENTS[0])).all()


@pytest.mark.parametrize("name", NAMES)
def test_all_variables_it_creates_are_listed_once(name):
    created = []

    def record(make, **arguments):
        created.append(make(**arguments))
        return created[-1]

    with tf.variable_creator_scope(record):
        optimizer, variables = made(name)
    own = {id(variable) for variable in created} - {id(variable) for variable in variables.values()}
    assert {id(variable) for variable in optimizer.variables.values()} == own
    assert len(own) == len(optimizer.variables)


@pytest.mark.parametrize("name", NAMES)
def test_restored_state_continues_to_the_same_bytes(name):
    whole, whole_variables = made(name)
    for gradient in GRADIENTS:
        update(whole, gradient)
    first, first_variables = made(name)
    for gradient in GRADIENTS[:2]:
        update(first, gradient)
    second, second_variables = made(name)
    for source, target in ((first.variables, second.variables), (first_variables, second_variables)):
        assert source.keys() == target.keys()
        for key, variable in source.items():
            target[key].assign(variable)
    for gradient in GRADIENTS[2:]:
        update(second, gradient)
    assert bytes_of(second_variables) == bytes_of(whole_variables)
    assert bytes_of(second.variables) == bytes_of(whole.variables)
