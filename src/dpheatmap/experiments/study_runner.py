"""The runner of experiments: it runs jobs on all cores and writes results to files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dpheatmap import __version__
from dpheatmap._util.files import replace_whole
from dpheatmap.evaluate.chart import four_metrics
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.score_table import Series, as_csv, records
from dpheatmap.experiments.job_log import SCORES, JobLog
from dpheatmap.experiments.maps import Gallery, side_by_side
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import PAPER_METHODS, Data, Finding, Job, Study, panels_of, paragraph, run_job

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Outcome(NamedTuple):
    """The outcome of an experiment: its findings, and the files written."""

    name: str
    title: str
    data: str
    findings: list[Finding]
    figures: list[Path]
    table: Path
    words: Path

    @property
    def files(self) -> list[Path]:
        """Everything that was written."""
        return [*self.figures, self.table, self.words]


Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int, float], None]
"""A callback with the number of jobs done, their total, and the seconds elapsed."""


def run_study(
    study: Study,
    data: Data,
    folder: Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run the jobs that are not yet in the folder's log, and write figures, table and findings."""
    jobs, dataset = study.jobs(data)
    for note in dataset.notes:
        say(note)
    about = {
        "study": study.name,
        "seed": seed,
        "version": __version__,
        "data": [dataset.title, sum(place.people for place in dataset.places)],
        "methods": _methods(jobs),
    }
    with JobLog(folder / f"{study.name}.jobs.jsonl", about, *SCORES) as log:
        seeded = [(seed, job) for job in jobs]
        results = run_missing(seeded, lambda item: item[1].key, run_job, log, workers, progress)
    panels = panels_of(jobs, results)
    drawn = study.figures(jobs, results, dataset) if study.figures else _figures(study, panels, dataset)
    figures = [save_figure(figure, folder / name) for name, figure in drawn]
    rows = [row for panel, series in panels.items() for row in records(series, study.axis, panel=panel)]
    findings = [*study.findings(panels), *study.judge(jobs, results)]
    return write_outcome(study.name, study.title, dataset, findings, figures, rows, folder)


def run_gallery(
    gallery: Gallery, data: Data, folder: Path, *, seed: int = 0, say: Callable[[str], None] = lambda line: None
) -> Outcome:
    """Draw maps side by side, and write their scores and findings."""
    strips, dataset = gallery.strips(data, seed)
    for note in dataset.notes:
        say(note)
    notes = [f"Each map has its own colour scale, from 0 to its largest value. Data: {dataset.title}."]
    figure = side_by_side(strips, gallery.title, notes)
    rows = [
        {"place": one.place.name, "epsilon": float(one.epsilon), "method": name, **marks._asdict()}
        for one in strips
        for name, marks in one.scores.items()
    ]
    found = Finding(
        "the paper's algorithm gives the map nearest to the original",
        all(one.scores["paper"].emd == min(marks.emd for marks in one.scores.values()) for one in strips),
        "; ".join(f"{row['place']}, epsilon {row['epsilon']:g}, {row['method']}: EMD {row['emd']:.3g}" for row in rows),
    )
    figures = [save_figure(figure, folder / f"{gallery.name}.png")]
    return write_outcome(gallery.name, gallery.title, dataset, [found], figures, rows, folder)


def write_outcome(
    name: str,
    title: str,
    dataset: Dataset,
    findings: list[Finding],
    figures: list[Path],
    rows: list[dict[str, Any]],
    folder: Path,
) -> Outcome:
    """Write table and findings beside the figures."""
    table = save_text(folder / f"{name}.csv", as_csv(rows, [title, dataset.title]))
    words = f"{title}. Data: {dataset.title}. {paragraph(findings)}\n"
    return Outcome(name, title, dataset.title, findings, figures, table, save_text(folder / f"{name}.txt", words))


def _methods(jobs: Sequence[Job]) -> list[str]:
    return sorted({name for job in jobs for name in job.methods})


def run_missing(
    items: Sequence[Item],
    key: Callable[[Item], str],
    work: Callable[[Item], Result],
    log: JobLog[Result],
    workers: int | None,
    progress: Progress | None,
) -> dict[str, Result]:
    """Run the items that are missing from the log."""
    missing = [item for item in items if key(item) not in log.results]
    start = time.monotonic()
    for item, result in run_all(work, missing, workers):
        log.add(key(item), result)
        if progress is not None:
            progress(len(log.results), len(items), time.monotonic() - start)
    return log.results


def _figures(study: Study, panels: dict[str, Series], dataset: Dataset) -> list[tuple[str, Figure]]:
    """Draw a figure of the paper's own methods for each panel, and one of the rivals if there are any."""
    found = []
    for panel, series in panels.items():
        name = "-".join([study.name, *panel.replace(",", "").split()])
        title = f"{study.title}{', ' if panel else ''}{panel}"
        of_paper = [method for method in series if method in PAPER_METHODS]
        rivals = [method for method in series if method not in PAPER_METHODS]
        if set(of_paper) < set(PAPER_METHODS):
            shown = [("", list(series))]
        else:
            shown = [("", of_paper), *([("-rivals", ["paper", *rivals])] if rivals else [])]
        for suffix, methods in shown:
            chosen = {method: series[method] for method in methods}
            runs = max(mark["emd"].runs for line in chosen.values() for mark in line.values())
            figure = four_metrics(
                chosen, axis=study.axis, title=title, logarithmic=study.logarithmic,
                notes=[f"Means of {runs} runs, shaded: 95 % intervals. Data: {dataset.title}."],
            )  # fmt: skip
            found.append((f"{name}{suffix}.png", figure))
    return found


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure, whole or not at all."""
    with replace_whole(path) as temporary:
        figure.savefig(temporary, dpi=110)
    return path


def save_text(path: Path, text: str) -> Path:
    """Write a text, whole or not at all."""
    with replace_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
