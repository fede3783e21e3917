"""How long the paper's first experiment takes: 30 cells x 2 trials x 6 epsilons x all methods.

A part of its jobs, taken evenly from all of them, is run on the machine's cores as the experiment itself does, and the
rest is reckoned from it. Needs the data folder (DPHEATMAP_DATA); without it, invented people are used.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from common import bar
from dpheatmap.evaluate.process_pool import cores
from dpheatmap.experiments import stand_in_data
from dpheatmap.experiments.epsilon import STUDY
from dpheatmap.experiments.figures import Sources
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import Data, Job
from dpheatmap.experiments.study_runner import run_study

EVERY = 15  # 24 of 360 jobs: four of each epsilon


def some_jobs(data: Data) -> tuple[list[Job], Dataset]:
    jobs, dataset = STUDY.jobs(data)
    return [job for k, job in enumerate(jobs) if (k // 6) % EVERY == 0], dataset


def main() -> int:
    sources = Sources(invented=stand_in_data.folder() is None)
    every, dataset = STUDY.jobs(sources)
    part = len(some_jobs(sources)[0])
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run_study(replace(STUDY, jobs=some_jobs), sources, Path(folder))
        seconds = time.perf_counter() - start
    minutes = seconds / 60 * len(every) / part
    print(f"{part} of {len(every)} jobs in {seconds:.0f} s on {cores()} cores. Data: {dataset.title}.")
    return 0 if bar("reproduce comparison, whole", minutes, 30, unit=" min") else 1


if __name__ == "__main__":
    sys.exit(main())
