"""What changes with several replicas, each of which sees its share of the batch."""

from __future__ import annotations

from collections.abc import Iterator

from gantrain.deepcheck.findings import finding
from gantrain.spec.rules import Finding
from gantrain.spec.tasks import AnySpec


def replicas(spec: AnySpec, count: int) -> Iterator[Finding]:
    """A spec on `count` replicas."""
    if count == 1:
        return
    batch, roles = spec.data.batch_size, [role for role, net in spec.nets.items() if "batch_norm" in net.norms()]
    if batch % count:
        message = f"a batch of {batch} cannot be shared by {count} replicas; write batch_size: {max(batch // count, 1) * count}"
        yield finding("indivisible-batch", "data.batch_size", message)
    if roles and batch == count:
        message = (
            f"each of {count} replicas sees one example, which BatchNorm subtracts from itself; write batch_size: {8 * count}"
        )
        yield finding("batchnorm-small-batch", "data.batch_size", message)
    elif roles:
        message = f"BatchNorm in the {' and the '.join(roles)} takes its statistics over {batch // count} of {batch} examples, on"
        message += (
            f" each of {count} replicas by itself; a larger batch_size, or norm: layer_norm, does not depend on their number"
        )
        yield finding("batchnorm-unsynchronised", roles[0], message)
