"""The first signal asks, the second one ends; afterwards the handlers of before are back."""

from __future__ import annotations

import os
import signal

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
    assert caught.value.exit_code == code
    assert signal.getsignal(number) is before
