"""Which picture sizes a net of stride-2 stages can reach (free of TensorFlow)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gantrain.errors import UsageError

Stages: TypeAlias = int | Literal["auto"]

SMALLEST_SIDE = 4  # pixels; auto never halves below it
LARGEST_SEED = 256  # positions; above it the dense layer next to the seed holds most of the net's parameters


def count_stages(stages: Stages, height: int, width: int) -> int:
    """Number of stride-2 stages. auto halves while both sides are even and the result is at least 4 pixels."""
    if stages != "auto":
        return stages
    count = 0
    while height % 2 == 0 and width % 2 == 0 and min(height, width) // 2 >= SMALLEST_SIDE:
        height, width, count = height // 2, width // 2, count + 1
    return count


def seed_size(stages: Stages, height: int, width: int) -> tuple[int, int]:
    """(height, width) of the smallest feature map, in pixels."""
    factor = 2 ** count_stages(stages, height, width)
    return height // factor, width // factor


def why_not(shape: tuple[int, ...], stages: Stages) -> str | None:
    """None if stages reach pictures of `shape` (H, W, C), else the reason and what works."""
    if len(shape) != 3:
        return f"examples of shape {shape} are not pictures (height, width, channels); the net named mlp takes any shape"
    height, width, _ = shape
    if stages == "auto":
        return _why_not_auto(height, width)
    step = 2**stages
    if height % step == 0 and width % step == 0:
        return None
    works = f"sizes that work with {_stages(stages)} are {_near(height, width, step)}"
    return f"{height}x{width} cannot be halved {_times(stages)}; {works}; or write `stages: auto`"


def why_no_attention(shape: tuple[int, ...], stages: Stages, height: int | None) -> str | None:
    """None if a map between two stages has this height in pixels (or none is asked for), else the reason and what works."""
    if height is None:
        return None
    heights = [shape[0] // 2**index for index in range(1, count_stages(stages, *shape[:2]))]
    if height in heights:
        return None
    works = f"the maps between its stages have heights {', '.join(map(str, heights))}" if heights else "it has one stage only"
    return f"there is no map of height {height} for attention: {works}; or write `attention: null`"


def refuse(reason: str | None, net: str) -> None:
    """Raise UsageError if there is a reason against building the net."""
    if reason is not None:
        raise UsageError(f"{net}: {reason}")


def _why_not_auto(height: int, width: int) -> str | None:
    if _fits(height, width):
        return None
    step = SMALLEST_SIDE
    while not all(_fits(*size) for size in _neighbours(height, width, step)):
        step *= 2
    count = count_stages("auto", height, width)
    rows, columns = seed_size("auto", height, width)
    return (
        f"{height}x{width} can be halved {_times(count)}, down to {rows}x{columns}: too many positions to start from "
        f"(more than {LARGEST_SEED}); sizes that work are {_near(height, width, step)}; "
        f"or write `stages: {count}` to start from {rows}x{columns} all the same"
    )


def _fits(height: int, width: int) -> bool:
    """Whether auto ends at a small map, or at one that is too thin to be halved again."""
    rows, columns = seed_size("auto", height, width)
    return rows * columns <= LARGEST_SEED or min(rows, columns) < 2 * SMALLEST_SIDE


def _neighbours(height: int, width: int, step: int) -> list[tuple[int, int]]:
    below = (max(height // step, 1) * step, max(width // step, 1) * step)
    above = (-(-height // step) * step, -(-width // step) * step)
    return sorted({below, above})


def _near(height: int, width: int, step: int) -> str:
    examples = " or ".join(f"{near[0]}x{near[1]}" for near in _neighbours(height, width, step))
    return f"multiples of {step}, such as {examples}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _stages(count: int) -> str:
    return "1 stage" if count == 1 else f"{count} stages"
