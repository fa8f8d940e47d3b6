"""Names of what `validate-config --deep` finds in the built nets. Kept here, free of TensorFlow, because `ignore` knows them."""

from __future__ import annotations

from gantrain.spec.problems import Severity

# name -> severity and what it means, as the README says it. Names never change: users write them in `ignore`.
DEEP_RULES: dict[str, tuple[Severity, str]] = {
    "component-fails": ("error", "A component raises, or gives what it must not, when it is built or called."),
    "variable-shared": ("error", "One trainable variable is in two nets: two updates would pull at it."),
    "variable-hidden": (
        "error",
        "A net reads a trainable variable that is in no list: it never learns and no checkpoint holds it.",
    ),
    "gradient-none": ("error", "A variable gets no gradient from the loss of its own update: it can never learn."),
    "gradient-zero": ("error", "A kernel's gradient is exactly zero on a real batch: the net is cut off somewhere."),
    "gradient-nonfinite": ("error", "A loss or a gradient is NaN or infinite on the first real batch."),
    "wrong-net-updated": ("error", "An update moves variables of another net, or a forward moves trainable variables."),
    "output-shape": ("error", "A net gives another shape or dtype than the data has, or than a logit has."),
    "output-range": ("error", "The generator's values leave the data's range, or can never fill it."),
    "output-saturated": ("warning", "More than half of an untrained generator's values lie at the ends of the range."),
    "data-range": ("warning", "Real examples leave the range that the networks see, or use hardly any of it."),
    "statistics-frozen": ("error", "BatchNorm runs in inference mode while it trains: its statistics do not move."),
    "statistics-twice": ("error", "The generator's BatchNorm statistics do not move exactly once per step."),
    "not-repeatable": ("error", "The same step from the same state gives other bytes: a run cannot be repeated or resumed."),
    "penalty-gradient": ("error", "A penalty's gradient disagrees with its finite difference: an op without second derivative."),
    "batchnorm-unsynchronised": ("warning", "BatchNorm on several replicas takes each replica's statistics by itself."),
    "precision-faster": ("note", "The other of float32 and mixed_bfloat16 trains faster on this machine; says by how much."),
}
