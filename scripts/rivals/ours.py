"""gantrain's own engine: the step of `gantrain fit` with its moving average, facts and checks, without the events of a run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import _specs
from _worker import WORKLOADS, arguments, serve


def main() -> None:
    """Train as long as the benchmark asks. A third argument is a setting, such as training.updates=alternating."""
    name, precision = arguments()
    from gantrain.spec.parse import load_spec
    from gantrain.startup import start_tensorflow

    with tempfile.TemporaryDirectory() as folder:
        loaded = load_spec(_specs.write(name, precision, Path(folder)), tuple(sys.argv[3:]))
        start_tensorflow("cpu")
        from gantrain.experiment import build, open_source

        source, _ = open_source(loaded.spec, loaded.base_dir)
        experiment = build(loaded.spec, source)
        experiment.start_data()
        serve(WORKLOADS[name].batch, lambda steps: experiment.engine.run(steps) and None)


main()
