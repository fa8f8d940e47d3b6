"""The stages of `fit` after the spec: open the data, say what will happen, build, start or continue the run, train."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import tensorflow as tf

from gantrain import drift, kept_plugins, registry, runs
from gantrain.data.order import epoch_of
from gantrain.data.progress import Watch, watched
from gantrain.data.report import report_of
from gantrain.deepcheck.first_step import FirstStep
from gantrain.experiment import build_any, open_held_out, open_source, watch_over
from gantrain.pictures import Note, Pictures, spread
from gantrain.rundir.directory import RunDirectory, unfinished_runs
from gantrain.rundir.grid import write_png
from gantrain.rundir.lock import locked
from gantrain.rundir.metrics import LogFile, MetricsLog
from gantrain.spec.model import Minutes
from gantrain.spec.parse import LoadedSpec, require
from gantrain.spec.trees import dump_yaml, resolved_tree
from gantrain.startup import make_deterministic
from gantrain.stored import all_checkpoints
from gantrain.training.best import Best
from gantrain.training.events import RunEvents, settled
from gantrain.training.loop import Loop, Reporter
from gantrain.training.schedule import Intervals
from gantrain.training.signals import stop_on_signals


class Fitting:
    """One `fit` command. `tell` is for what the user may read, `warn` for what they should."""

    def __init__(
        self,
        loaded: LoadedSpec,
        device: str,
        tell: Callable[[str], None],
        warn: Callable[[str], None],
        watch: Watch | None = None,
    ) -> None:
        self.spec = loaded.spec
        self._loaded = loaded
        self._device = device
        self._tell = tell
        self._warn = warn
        self._said_slow = False
        with watched(watch):
            self._source, facts = open_source(loaded.spec, loaded.base_dir)
            held_out = open_held_out(loaded.spec, self._source, loaded.base_dir)
        require(loaded, facts)
        if self.spec.training.deterministic is True or (self.spec.training.deterministic == "auto" and device != "cpu"):
            make_deterministic()
        self._experiment = build_any(self.spec, self._source, held_out)

    # ---------------------------------------------------------------- before the first step

    def describe(self) -> None:
        """Say in a few lines what the data is and what will be done."""
        report = report_of(self._source)
        for line in report.lines if report else ():
            self._tell(line)
        for warning in report.warnings if report else ():
            self._warn(f"warning: {warning}")
        for line in self._plan():
            self._tell(line)

    def mention_unfinished(self) -> None:
        """Say how to go on with an unfinished run of this spec, if there is one."""
        parent = Path(self.spec.output.dir)
        for unfinished in unfinished_runs(parent, self.spec.name, drift.spec_hash(self._tree()))[:1]:
            self._tell(f"an unfinished run of this spec is there; to go on with it: gantrain fit --resume {unfinished}")

    def _plan(self) -> list[str]:
        spec, experiment = self.spec, self._experiment
        shape = "x".join(map(str, self._source.shape))
        span = f"in {list(spec.data.range)}" if spec.data.range else "as they are"
        epochs = self._epoch_at(experiment.total_steps)
        return [
            f"{spec.name}: {self._source.length:,} examples {shape} from {registry.row_of(spec.data.source).name}, {span}, "
            f"batches of {spec.data.batch_size}",
            experiment.describe(),
            f"{experiment.total_steps:,} steps ({epochs:,.1f} epochs) on {self._device}, {spec.training.precision}, "
            f"seed {spec.seed}",
        ]

    # ---------------------------------------------------------------- the run

    def train(self, path: Path | None, make_reporter: Callable[[int, int], Reporter]) -> None:
        """Start or continue the run at `path` (None: a new one) and train it to the end."""
        parent = Path(self.spec.output.dir)
        run = RunDirectory.open_or_create(path) if path else RunDirectory.create_numbered(parent, self.spec.name)
        with locked(run.path):
            run.tidy()
            run.unshare()
            known = runs.look_over(run, self._warn)
            runs.check_spec(run, self._tree())
            drift.check_data(known, self._experiment.data_facts, run.path)
            resumed = runs.resume(run, self._experiment, self._tree(), self._warn)
            record = runs.new_record(self._experiment, self._tree(), self._device, known)
            for warning in drift.changes_of_versions(known, runs.versions(), self._device):
                self._warn(f"warning: {warning}")
            if resumed is not None and resumed == self._experiment.total_steps:
                if record.status != "finished":  # killed right after its last checkpoint
                    self._events(run).saver.prune(resumed)
                    runs.mark_finished(run, record)
                self._tell(f"{run.path} has all its {resumed:,} steps; raise training.steps to go on")
                return
            self._tell(f"writes to {run.path}" + (f", from step {resumed:,} on" if resumed else ""))
            self._write_specs(run)
            with runs.recorded(run, record, resumed):
                self._loop(run, resumed, make_reporter)

    def _loop(self, run: RunDirectory, resumed: int | None, make_reporter: Callable[[int, int], Reporter]) -> None:
        log = LogFile(run.log_path)
        for line in [*self._plan(), f"{'resumed at step ' + str(resumed) if resumed else 'started'}"]:
            log.line(line)
        events, intervals = self._events(run), self._intervals()
        with registry.blaming_plugins(), stop_on_signals() as stop, settled(events):
            if resumed is None:
                self._first_files(run, events)
            self._experiment.start_data()
            self._trainer(events, intervals, make_reporter(resumed or 0, intervals.total)).run(stop)
        log.line("all steps done" + (f"; {events.best}" if events.best and events.best.best else ""))
        self._tell(f"done: {run.path}; {self._experiment.how_to_use(run.path)}")

    def _first_files(self, run: RunDirectory, events: RunEvents) -> None:
        """Real examples, untrained samples, a checkpoint: what cannot be written is found now, not after hours."""
        pictures = self._pictures()
        if pictures.drawable:
            real = self._source.load(spread(self._source.length, self.spec.output.sample_count))
            pictures.write_grid(run.samples / "reals.png", self._experiment.transform.forward(tf.constant(real)).numpy())
            events.saver.written.append(run.samples / "reals.png")
        events.sample(0)
        events.checkpoint(0)
        events.settle()

    def _trainer(self, events: RunEvents, intervals: Intervals, reporter: Reporter) -> Loop:
        experiment = self._experiment
        watchman = watch_over(experiment, events, self._warn)
        if int(experiment.progress.step.numpy()) == 0:
            watchman = replace(watchman, after_first=FirstStep(experiment).check)
        return Loop(
            experiment.engine,
            experiment.progress,
            intervals,
            events,
            reporter,
            experiment.images_per_step,
            self.spec.training.steps_per_call,
            self._source,
            watchman,
        )

    def _events(self, run: RunDirectory) -> RunEvents:
        experiment, said = self._experiment, list[str]()
        pictures, log = self._pictures(lambda levels: said.append(str(levels))), LogFile(run.log_path)

        def draw(stem: str) -> None:
            said.clear()
            for end, picture in experiment.drawings(pictures).items():
                write_png(run.samples / f"{stem}{end}.png", picture)
            if said:
                log.line(f"samples/{stem}: {'; '.join(said)}")

        return RunEvents(
            run=run,
            progress=experiment.progress,
            state=experiment.state,
            data=experiment.data_facts,
            resolved_yaml=dump_yaml(self._tree(kept_plugins.FROM_CHECKPOINT)),
            draw=draw,
            epoch_of=self._epoch_at,
            images_per_step=experiment.images_per_step,
            keep_last=self.spec.output.keep_last,
            score=experiment.score,
            waited=self._say_once_that_data_is_slow,
            best=self._best(run),
            background=True,
        )

    def _best(self, run: RunDirectory) -> Best | None:
        wish = self.spec.output.keep_best
        if wish is None:
            return None
        best = Best(wish.metric, wish.better == "higher")
        best.recall(MetricsLog(run.metrics_path).read(), [step for step, _ in all_checkpoints(run.checkpoints)])
        return best

    def _say_once_that_data_is_slow(self, share: float) -> None:
        if share <= 0.5 or self._said_slow:
            return
        self._said_slow = True
        decodes = registry.row_of(self.spec.data.source).name in ("image_folder", "tfrecord")
        remedy = "decode it once with `gantrain pack CONFIG FILE`, then train with source: {name: packed, path: FILE}"
        self._warn(
            f"the network waits for data {100 * share:.0f} % of the time; "
            + (remedy if decodes else "put the data on a faster disk, or leave more of the processor to this run")
        )

    def _intervals(self) -> Intervals:
        output = self.spec.output
        every, total = output.checkpoint_every, self._experiment.total_steps
        steps, seconds = (None, 60 * every.minutes) if isinstance(every, Minutes) else (every, None)
        return Intervals(output.log_every, output.sample_every, steps, total, output.evaluate_every, seconds)

    def _epoch_at(self, step: int) -> float:
        return epoch_of(step * self.spec.batches_per_step, self._source.length, self.spec.data)

    def _pictures(self, note: Note = lambda _: None) -> Pictures:
        return Pictures.of(self._experiment.transform, self._source, note)

    def _tree(self, place: str = kept_plugins.FROM_RUN) -> dict[str, Any]:
        tree = resolved_tree(self.spec, self._loaded.base_dir)
        return kept_plugins.with_kept_plugins(tree, self._loaded.plugins, place)

    def _write_specs(self, run: RunDirectory) -> None:
        runs.write_scan(run, self._source)
        kept_plugins.keep(run, self._loaded.plugins)
        resumed_by_name = self._loaded.base_dir.resolve() == run.path.resolve()  # then the text is the run's own resolved spec
        runs.write_specs(run, None if resumed_by_name else self._loaded.text, dump_yaml(self._tree()))
