"""Deep checks in words: a few aligned lines for people, a tree for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from gantrain.deepcheck.outputs import Figures
from gantrain.deepcheck.ownership import Tried, named
from gantrain.deepcheck.resources import Costs, LayerRow
from gantrain.deepcheck.subject import role_of


def figure_lines(figures: dict[str, Figures]) -> list[str]:
    """Real and fake, one line each."""
    lines = ["first batch   shape        dtype    lowest  highest    mean  spread  saturated"]
    for name, item in figures.items():
        shape = "x".join(map(str, item.shape))
        ends = "-" if item.saturated is None else f"{100 * item.saturated:.0f} %"
        numbers = "".join(f"{value:8.3f}" for value in (item.low, item.high, item.mean, item.spread))
        lines.append(f"{name:<12}  {shape:<11}  {item.dtype:<7}{numbers}  {ends:>9}")
    return lines


def update_lines(done: Sequence[Tried]) -> list[str]:
    """Each update: what it is judged by, what it moves, and which statistics move with it."""
    lines = [f"{'update':<16}  {'loss':>9}  {'gradient norm':>13}  moves"]
    for item in done:
        counts = Counter(role_of(key) for key in item.trial.variables)
        moves = " and ".join(f"{count} variables of the {role}" for role, count in counts.items())
        also = f", statistics of {named(_layers(item.statistics))}" if item.statistics else ""
        lines.append(f"{item.trial.role:<16}  {item.loss:>9.4g}  {item.norm:>13.4g}  {moves}{also}")
    return lines


def _layers(keys: Sequence[str]) -> list[str]:
    """`hidden1/norm` of `generator/hidden1/norm/moving_mean`, each once."""
    return list(dict.fromkeys(key.split("/", 1)[1].rpartition("/")[0] for key in keys))


def layer_lines(role: str, rows: list[LayerRow]) -> list[str]:
    """One line per layer."""
    lines = [f"{role + ' layer':<28}  {'kind':<20}  {'gives':<14}  {'parameters':>11}  activation"]
    for row in rows:
        shape = "x".join(map(str, row.shape))
        lines.append(f"{row.name:<28}  {row.kind:<20}  {shape:<14}  {row.parameters:>11,}  {row.activation}".rstrip())
    return lines


def cost_lines(costs: Costs) -> list[str]:
    """What the run costs."""
    parameters = ", ".join(f"{role} {count:,}" for role, count in costs.parameters.items())
    return [
        f"parameters: {parameters}; a checkpoint has {costs.checkpoint / 1e6:,.1f} MB",
        f"memory: activations of a step {costs.activations / 1e6:,.0f} MB, this process at most {costs.peak / 1e6:,.0f} MB",
        f"time: {costs.step_sec:.3g} s per step, {costs.images_per_sec:,.0f} examples/s; the run about {duration(costs.run_sec)}",
    ]


def duration(seconds: float) -> str:
    """In the unit that a person would use."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"


def tree_of(
    figures: dict[str, Figures], done: Sequence[Tried], tables: dict[str, list[LayerRow]], costs: Costs | None
) -> dict[str, object]:
    """For --json."""
    return {
        "first_batch": {name: asdict(item) for name, item in figures.items()},
        "updates": {item.trial.role: _update_tree(item) for item in done},
        "layers": {role: [asdict(row) for row in rows] for role, rows in tables.items()},
        "costs": None if costs is None else asdict(costs),
    }


def _update_tree(item: Tried) -> dict[str, object]:
    return {"loss": item.loss, "gradient_norm": item.norm, "moves": list(item.trial.variables), "statistics": item.statistics}
