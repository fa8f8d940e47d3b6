"""What is shown while it trains: a bar on a terminal, rare whole lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import pytest

from gantrain.cli import bar

MEANS = {"loss/generator": 0.51234, "loss/discriminator": 1.25}


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(bar.time, "monotonic", lambda: now[0])
    return now


def test_the_reporter_fits_the_terminal(monkeypatch):
    assert isinstance(bar.reporter(0, 10, quiet=True), bar.Silence)
    assert isinstance(bar.reporter(0, 10, quiet=False), bar.PlainLines)  # pytest's stderr is no terminal
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    shown = bar.reporter(0, 10, quiet=False)
    assert isinstance(shown, bar.Bar)
    shown.close()


def test_plain_lines_come_seldom_and_at_the_end_and_hold_no_carriage_return(clock, capsys):
    lines = bar.PlainLines(0, 100)
    for step, second in ((1, 1.0), (20, 11.0), (21, 12.0), (40, 22.0), (100, 23.0)):
        clock[0] = 100.0 + second
        lines.advanced(step, MEANS, 1234.5)
    said = capsys.readouterr().err
    assert [line.split()[1] for line in said.splitlines()] == ["20/100", "40/100", "100/100"]
    assert "1,234 images/s" in said
    assert "loss G 0.512 D 1.250" in said
    assert "44 s left" in said  # 11 s for 20 of 100 steps
    assert "\r" not in said


def test_the_time_left_counts_only_the_steps_of_this_start(clock, capsys):
    lines = bar.PlainLines(80, 100)
    clock[0] += 10.0
    lines.advanced(90, MEANS, 0.0)
    said = capsys.readouterr().err
    assert "10 s left" in said
    assert "images/s" not in said  # nothing was measured yet


def test_the_bar_starts_where_the_run_stands(monkeypatch, capsys):
    shown = bar.Bar(25, 60)
    shown.advanced(30, MEANS, 500.0)
    shown.close()
    said = capsys.readouterr().err
    assert "30/60" in said
    assert "loss G 0.512" in said
