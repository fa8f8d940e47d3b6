"""The first signal asks, the second one ends; afterwards the handlers of before are back."""

from __future__ import annotations

import os
import signal

import keras
import numpy as np
import pytest

from gantrain.errors import InterruptedRun
from gantrain.training.signals import stop_on_signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_is_noted_and_the_second_ends_at_once_with_its_exit_code(number, code):
    before = signal.getsignal(number)
    with stop_on_signals() as stop:
        assert stop.signal_number is None
        os.kill(os.getpid(), number)
        assert stop.signal_number == number
        with pytest.raises(InterruptedRun) as caught:
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)  # a third one does not disturb the end
    assert caught.value.exit_code == code
    assert signal.getsignal(number) is before


def test_no_handler_of_exceptions_takes_a_signal_for_a_mistake_of_a_net_or_a_file():
    assert not issubclass(InterruptedRun, Exception)

    class Interrupted(keras.layers.Layer):
        def call(self, x):
            os.kill(os.getpid(), signal.SIGTERM)
            return x

    layer = Interrupted()
    with stop_on_signals() as stop:
        stop.handle(signal.SIGTERM, None)
        with pytest.raises(InterruptedRun):
            layer(np.zeros((1, 1), np.float32))  # Keras wraps every Exception into another one
