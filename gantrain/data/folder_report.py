"""What a scan of a folder found, as a short table, as warnings, and as a tree for scan.json."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gantrain.data.inspect import PictureFacts
from gantrain.data.report import Report
from gantrain.data.scan import Scan, printable
from gantrain.data.survey import Survey
from gantrain.data.words import counted

SHOWN = 3  # names or values in one line of the table
MANY_BARS = 0.05  # mean share of the area in bars of one value that is worth a warning
DARK = 0.25  # 16-bit pictures that use less of the range would come out nearly black


@dataclass(frozen=True)
class Findings:
    """A scan as it stands: all pictures, those in use, and the labels of those."""

    found: Scan
    survey: Survey  # of all pictures
    used: Survey
    frame_words: str  # such as "64x64 RGB, cropped"
    transparency: str  # what is done with it
    ranged: bool  # whether value_range is declared
    labels: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())  # of the labels file


def report(findings: Findings) -> Report:
    """The whole report."""
    facts = findings.used.facts
    skipped = len(findings.survey.names) - len(findings.used.names)
    lines = [f"  {name:<11}{text}" for name, text in _rows(findings, facts)]
    title = f"scan of {findings.found.root}" + (" (known from an earlier scan)" if findings.survey.cached else "")
    return Report((title, *lines), tuple(_warnings(findings, facts)), _tree(findings), skipped)


def _rows(findings: Findings, facts: tuple[PictureFacts, ...]) -> Iterator[tuple[str, str]]:
    total = len(findings.survey.names)
    bad = findings.survey.bad()
    yield "pictures", f"{len(facts):,} of {counted(total, 'file')}, brought to {findings.frame_words}"
    yield "formats", _counts(item.format for item in facts)
    yield "sizes", _sizes(facts) + " (width x height)"
    yield "modes", _counts(item.mode for item in facts)
    if any(item.bits > 8 for item in facts):
        yield "bits", _counts(counted(item.bits, "bit") for item in facts)
    transparent = sum(item.alpha == "transparent" for item in facts)
    if transparent:
        yield "alpha", f"{transparent:,} with transparent pixels: {findings.transparency}"
    yield from _oddities(findings)
    if bad:
        yield "unreadable", f"{len(bad):,}: " + _few(f"{printable(name)}: {cause}" for name, cause in bad)
    if findings.labels is not None:
        yield "labels", _counts(findings.class_names[label] for label in findings.labels)
    if findings.found.ignored:
        yield "ignored", f"{counted(len(findings.found.ignored), 'other file')}: " + _few(map(printable, findings.found.ignored))


def _oddities(findings: Findings) -> Iterator[tuple[str, str]]:
    turned, animated = [_named(findings.used, test) for test in (lambda item: item.orientation > 1, lambda item: item.animated)]
    if turned:
        yield "turned", f"{len(turned):,} by their EXIF orientation: {_few(turned)}"
    profiles = _named(findings.used, lambda item: item.profile)
    if profiles:
        yield (
            "profiles",
            f"{len(profiles):,} with a colour profile, which is ignored: values are taken as they are ({_few(profiles)})",
        )
    if animated:
        yield "animated", f"{len(animated):,}, the first frame is used: {_few(animated)}"
    groups = duplicates(findings.used)
    if groups:
        copies = sum(len(group) - 1 for group in groups)
        yield (
            "copies",
            f"{counted(copies, 'file')} with the contents of another, such as {' = '.join(map(printable, groups[0][:2]))}",
        )


def _warnings(findings: Findings, facts: tuple[PictureFacts, ...]) -> Iterator[str]:
    deep = _named(findings.used, lambda item: item.bits > 8)
    if deep and len(deep) < len(facts):
        yield (
            f"more than 8 bits per channel in {len(deep):,} of {counted(len(facts), 'picture')}, the others have 8 "
            f"({_few(deep)}): each is scaled by its own depth to 8 bits"
        )
    tops = [item.high for item in facts if item.bits == 16]
    if tops and not findings.ranged and max(tops) < DARK * 65535:
        yield (
            f"{counted(len(tops), '16-bit picture')}: no value is above {max(tops):g} of 65535, so they will be nearly black; "
            f"write value_range: [0, {max(tops):g}]"
        )
    bars = [item.bars for item in facts]
    if facts and float(np.mean(bars)) > MANY_BARS:
        yield (
            f"{100 * float(np.mean(bars)):.0f} % of the pixels lie in bars of one exact value along the border "
            f"({sum(share > 0 for share in bars):,} of {counted(len(facts), 'picture')}); if that is padding, crop it: "
            "a discriminator tells exact values from a generator's at once"
        )
    yield from findings.notes


def _tree(findings: Findings) -> dict[str, Any]:
    facts, used = findings.used.facts, findings.used
    labels = [] if findings.labels is None else [findings.class_names[label] for label in findings.labels]
    return {
        "root": str(findings.found.root),
        "files": len(findings.survey.names),
        "used": len(used.names),
        "formats": dict(Counter(item.format for item in facts).most_common()),
        "sizes": {f"{width}x{height}": count for (width, height), count in _size_counts(facts).most_common()},
        "modes": dict(Counter(item.mode for item in facts).most_common()),
        "bits": {str(bits): count for bits, count in Counter(item.bits for item in facts).most_common()},
        "alpha": dict(Counter(item.alpha for item in facts).most_common()),
        "turned": _named(used, lambda item: item.orientation > 1),
        "profiles": _named(used, lambda item: item.profile),
        "animated": _named(used, lambda item: item.animated),
        "deep": {printable(name): [item.low, item.high] for name, item in _pairs(used) if item.bits > 8},
        "bars": {"mean_share": float(np.mean([item.bars for item in facts])) if facts else 0.0},
        "duplicates": [[printable(name) for name in group] for group in duplicates(used)],
        "unreadable": {printable(name): cause for name, cause in findings.survey.bad()},
        "labels": dict(Counter(labels)) if findings.labels is not None else None,
        "notes": list(findings.notes),
        "ignored": [printable(name) for name in findings.found.ignored],
    }


def duplicates(used: Survey) -> list[list[str]]:
    """Groups of names whose files have the same contents."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, item in _pairs(used):
        groups[item.digest].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _pairs(used: Survey) -> Iterator[tuple[str, PictureFacts]]:
    return zip(used.names, used.facts, strict=True)


def _named(used: Survey, test: Any) -> list[str]:
    return [printable(name) for name, item in _pairs(used) if test(item)]


def _size_counts(facts: Iterable[PictureFacts]) -> Counter[tuple[int, int]]:
    return Counter((item.width, item.height) for item in facts)


def _sizes(facts: tuple[PictureFacts, ...]) -> str:
    counts = _size_counts(facts)
    common = [(f"{width}x{height}", count) for (width, height), count in counts.most_common(SHOWN)]
    if len(counts) <= SHOWN:
        return ", ".join(f"{size} {count:,}" for size, count in common)
    areas = sorted(counts, key=lambda size: size[0] * size[1])
    ends = f"{areas[0][0]}x{areas[0][1]} to {areas[-1][0]}x{areas[-1][1]}"
    return f"{len(counts):,} different, {ends}; mostly {common[0][0]} ({common[0][1]:,})"


def _counts(values: Iterable[str]) -> str:
    common = Counter(values).most_common()
    rest = sum(count for _, count in common[10:])
    return ", ".join(f"{printable(value)} {count:,}" for value, count in common[:10]) + (f", others {rest:,}" if rest else "")


def _few(items: Iterable[str]) -> str:
    listed = list(items)
    more = len(listed) - SHOWN
    return ", ".join(listed[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
