"""Rules of task `history`: targets that fit the loss, and windows that can be full."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from gantrain.interfaces import SourceFacts
from gantrain.registry import row_of
from gantrain.spec.arithmetic import batches_per_epoch, known_steps
from gantrain.spec.history import HistorySpec
from gantrain.spec.rule import HISTORY, Said, rule


@rule("targets-missing", "error", HISTORY)
def targets_missing(spec: HistorySpec, facts: SourceFacts) -> Said:
    """Inputs alone."""
    if facts.shape is not None and facts.target_size is None:
        how = {"arrays": "write targets_key: NAME", "csv": "write targets: [COLUMN]"}.get(row_of(spec.data.source).name)
        yield (
            ("data", "source"),
            f"the source gives no targets; {how or 'take arrays with targets_key, or csv with targets'}",
        )


@rule("target-size", "error", HISTORY)
def target_size(spec: HistorySpec, facts: SourceFacts) -> Said:
    """A target that the loss cannot compare with Z."""
    sizes, window = spec.objective.loss.target_sizes(spec.window), spec.window
    if facts.target_size is None or sizes is None or facts.target_size in sizes:
        return
    wanted = " or ".join(f"{size:,}" for size in sizes)
    yield (
        ("objective", "loss"),
        f"the source's targets have {facts.target_size:,} numbers, {row_of(spec.objective.loss).name} takes {wanted} (Z has "
        f"{window.length} outputs of {window.size}); take other targets or another loss",
    )


@rule("window-too-short", "error", HISTORY)
def window_too_short(spec: HistorySpec, facts: SourceFacts) -> Said:
    """A loss that has nothing to compare."""
    least = spec.objective.loss.least_length()
    if spec.history.length < least:
        loss = row_of(spec.objective.loss).name
        yield ("history", "length"), f"{loss} needs a window of {least} outputs; write length: {least} or more"


@rule("window-never-full", "error", HISTORY)
def window_never_full(spec: HistorySpec, facts: SourceFacts) -> Said:
    """With `start: warm_up` a window that is never full means that nothing is ever trained."""
    outputs = _most_outputs(spec, facts)
    if spec.history.start == "warm_up" and outputs is not None and outputs < spec.history.length:
        yield (
            ("history", "start"),
            f"warm_up waits for {spec.history.length} outputs of one sequence, there are never more than {outputs}: nothing "
            f"would be trained; write length: {outputs} or less, or start: zeros",
        )


@rule("window-mostly-zeros", "warning", HISTORY)
def window_mostly_zeros(spec: HistorySpec, facts: SourceFacts) -> Said:
    """Windows that always hold zeros, most often because the rows of a sequence are not one after the other."""
    outputs = _most_outputs(spec, facts)
    if spec.history.start == "zeros" and outputs is not None and outputs < spec.history.length:
        yield (
            ("history", "length"),
            f"Z has room for {spec.history.length} outputs of one sequence, there are never more than {outputs}: the rest stays "
            f"zero; sort the rows by sequence, or write length: {outputs}",
        )


@rule("sequences-shuffled", "error", HISTORY)
def sequences_shuffled(spec: HistorySpec, facts: SourceFacts) -> Said:
    """Sequences that are torn apart before the window sees them."""
    several = facts.longest_sequence is not None and facts.length is not None and facts.longest_sequence < facts.length
    if several and spec.data.order == "shuffled":
        yield ("data", "order"), "the source names sequences, which order: shuffled tears apart; write order: sequential"


def _most_outputs(spec: HistorySpec, facts: SourceFacts) -> int | None:
    """Most outputs of one sequence that a window can get to see; None while that is not known."""
    steps, batch = known_steps(spec, facts.length), spec.data.batch_size
    by_batch = spec.history.unit == "batch"
    limits = [None if steps is None else steps if by_batch else steps * batch]
    if facts.length is not None and spec.history.reset == "epoch":
        batches = batches_per_epoch(spec.data, facts.length)
        per_slot = -(-facts.length // batch) if batches is None else batches
        limits.append(per_slot if by_batch else facts.length if batches is None else min(facts.length, batches * batch))
    if not by_batch and facts.length is not None and facts.longest_sequence not in (None, facts.length):
        limits.append(facts.longest_sequence)
    return min((limit for limit in limits if limit is not None), default=None)
