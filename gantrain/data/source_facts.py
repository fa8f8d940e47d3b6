"""The facts of a source that is open (free of TensorFlow)."""

from __future__ import annotations

from gantrain.data.pairing import pairing_of
from gantrain.interfaces import Source, SourceFacts


def facts_of(source: Source) -> SourceFacts:
    """All that the static rules may ask, now known."""
    pairing = pairing_of(source)
    return SourceFacts(
        shape=tuple(source.shape),
        length=source.length,
        num_classes=None if source.labels is None else len(source.class_names),
        bounded=source.value_range is not None,
        class_names=tuple(source.class_names),
        target_size=None if pairing is None else pairing.size,
        longest_sequence=None if pairing is None else pairing.longest,
    )
