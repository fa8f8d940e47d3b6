"""Judge a Fashion-MNIST run by a small classifier trained on real pictures: classes found and confidence.

.venv/bin/python scripts/judge_fashion.py runs/quickstart-001 [--count 1000] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from gantrain.startup import start_tensorflow

MIN_SHARE = 0.01  # a class is found if this share of the samples is of it


def classifier():
    """Small convolutional net on [B,28,28,1] in [0,1] -> probabilities [B,10]."""
    import keras

    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPool2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPool2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def real(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [n,28,28,1] in [0,1] and labels [n] of the packaged sample."""
    from gantrain import registry
    from gantrain.data.catalog import FashionSample

    source = registry.build(FashionSample(split=split), Path("."))
    return source.load(np.arange(source.length)).astype(np.float32) / 255, source.labels


def judge(samples: np.ndarray, model, asked: np.ndarray | None = None) -> dict:
    """Classes found, their shares and the median confidence of samples [n,28,28,1] uint8.

    With `asked` [n], the classes that were asked for, also the share of samples that are of them.
    """
    probabilities = model.predict(samples.astype(np.float32) / 255, verbose=0)
    shares = np.bincount(probabilities.argmax(1), minlength=10) / len(samples)
    found = {} if asked is None else {"asked_and_found": round(float((probabilities.argmax(1) == asked).mean()), 4)}
    return found | {
        "classes_found": int((shares >= MIN_SHARE).sum()),
        "median_confidence": round(float(np.median(probabilities.max(1))), 4),
        "shares": [round(float(share), 3) for share in shares],
    }


def trained() -> tuple:
    """The classifier and its accuracy on held-out pictures."""
    model = classifier()
    model.fit(*real("train"), epochs=20, batch_size=64, verbose=0)
    return model, float(model.evaluate(*real("test"), verbose=0)[1])


def draw(run: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Samples [n,28,28,1] uint8 of a run, by the command, and the classes asked for, in turn, if it is conditional."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples.npz"
        command = [sys.executable, "-m", "gantrain", "sample", run, "--as", "npz", "--out", str(out)]
        subprocess.run([*command, "--count", str(count), "--seed", str(seed)], check=True, stdout=subprocess.DEVNULL)
        with np.load(out) as arrays:
            return arrays["samples"], arrays.get("labels")


def main() -> None:
    """Print one JSON object per run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start_tensorflow("cpu")
    model, accuracy = trained()
    for run in arguments.runs:
        samples, asked = draw(run, arguments.count, arguments.seed)
        report = judge(samples, model, asked)
        print(json.dumps({"run": run, "accuracy_on_real": round(accuracy, 4), **report}))


if __name__ == "__main__":
    main()
