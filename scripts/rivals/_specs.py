"""The workloads as gantrain's own configs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml
from _worker import WORKLOADS, pictures

NETS = {
    "W1": (
        {"name": "mlp", "units": [256, 512, 1024], "norm": "batch_norm"},
        {"name": "mlp", "units": [512, 256], "negative_slope": 0.2},
    ),
    "W2": (
        {
            "name": "dcgan", "kernel_size": 5, "refine": True, "seed_norm": "units", "use_bias": False, "negative_slope": 0.3,
            "initial_std": None,
        },
        {"name": "dcgan", "kernel_size": 5, "norm": "none", "dropout": 0.3, "negative_slope": 0.3, "initial_std": None},
    ),
    "W3": ({"name": "dcgan"}, {"name": "dcgan"}),
    "W4": ({"name": "sngan_resnet", "width": 64}, {"name": "sngan_resnet", "width": 64}),
}  # fmt: skip


def write(name: str, precision: str, folder: Path, steps: int = 1_000_000_000, **output: object) -> Path:
    """A config of the workload in `folder`, with its pictures beside it. All that `fit` does by default is on."""
    workload = WORKLOADS[name]
    np.save(folder / "pictures.npy", pictures(workload))
    adam = {"name": "adam", "learning_rate": workload.learning_rate, "beta_1": workload.beta_1}
    tree = {
        "name": name.lower(),
        "data": {"source": {"name": "arrays", "path": "pictures.npy"}, "batch_size": workload.batch},
        "generator": NETS[name][0],
        "discriminator": NETS[name][1],
        "optimizers": {"generator": adam, "discriminator": adam},
        "training": {
            "steps": steps,
            "updates": "simultaneous",  # as the rivals that share their forwards
            "precision": "mixed_bfloat16" if precision == "bfloat16" else "float32",
        },
        "output": {"dir": "runs", **output},
    }
    path = folder / f"{name.lower()}.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path
