"""``dpheatmap reproduce``: the paper's experiments, with their figures, tables and findings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from dpheatmap.cli.shared_options import json_option
from dpheatmap.cli.terminal import answer, say
from dpheatmap.errors import ParameterError

_BETWEEN_LINES = 60.0  # seconds


@click.command("reproduce")
@click.argument("figures", metavar="FIGURE...", nargs=-1, required=True)
@click.option("--folder", default="dpheatmap-figures", show_default=True, help="Where to write, and to go on from.")
@click.option("--snap", metavar="FOLDER", help="The official SNAP check-ins (Gowalla and Brightkite).")
@click.option("--salicon", metavar="FOLDER", help="The official SALICON download.")
@click.option("--invented", is_flag=True, help="Invented people instead of data, to try it out.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same results.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes; as many as cores by default.")
@json_option
def command(
    figures: tuple[str, ...],
    folder: str,
    snap: str | None,
    salicon: str | None,
    invented: bool,
    seed: int,
    workers: int | None,
    as_json: bool,
) -> None:
    """Run experiments of the paper: comparison, users, resolution, gaze, synthetic, shuffle, maps, gaze-maps, or all.

    Five more are our own: rivals (is anybody better than our method?), ablation (what does each part bring?), bounds
    (are errors where theory says?), kmedian (what do private places cost?) and local (what is possible where nobody is
    trusted?).
    Each writes figures, a CSV, and a paragraph that says whether the paper's claims held. Without the official
    downloads, stand-ins are read from the folder that DPHEATMAP_DATA names, and the figures say so. A run that was
    stopped goes on where it was.
    """
    from dpheatmap.evaluate.chart import new_figure
    from dpheatmap.experiments.figures import FIGURES, GALLERIES, STUDIES, Sources
    from dpheatmap.experiments.kmedian_cost import run_kmedian
    from dpheatmap.experiments.report import report
    from dpheatmap.experiments.study_runner import run_gallery, run_study, save_text

    for name in figures:
        if name not in (*FIGURES, "all"):
            raise ParameterError(f"FIGURE must be one of {', '.join(FIGURES)} or all; it was {name!r}. Pick one.")
    new_figure()  # fails at once if matplotlib is missing, not after an hour
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    sources = Sources(Path(snap) if snap else None, Path(salicon) if salicon else None, invented)
    outcomes = []
    for name in FIGURES if "all" in figures else figures:
        if name in GALLERIES:
            outcome = run_gallery(GALLERIES[name], sources, place, seed=seed, say=say)
        else:
            run = partial(run_study, STUDIES[name]) if name in STUDIES else run_kmedian
            with _progress(name) as tick:
                outcome = run(sources, place, seed=seed, workers=workers, progress=tick, say=say)
        say(outcome.words.read_text(encoding="utf-8"))
        outcomes.append(outcome)
    written = [
        *(file for outcome in outcomes for file in outcome.files),
        save_text(place / "report.md", report(outcomes)),
    ]
    answer(as_json, {"outputs": list(map(str, written))}, "\n".join(map(str, written)))


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int, float], None]]:
    """Show a bar with the time left on a terminal; elsewhere, a line at intervals."""
    if not sys.stderr.isatty():
        yield _progress_lines(name)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total, seconds: bar.update(task, completed=done, total=total)


def _progress_lines(name: str) -> Callable[[int, int, float], None]:
    said = 0.0

    def tick(done: int, total: int, seconds: float) -> None:
        nonlocal said
        if done == total or seconds - said >= _BETWEEN_LINES:
            said = seconds
            say(f"{name}: {done} of {total} runs, {seconds:.0f} s")

    return tick
