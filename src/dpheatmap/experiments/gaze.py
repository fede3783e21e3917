"""Gaze maps: the paper's appendix on SALICON, 38 images of 320 x 240 pixels, 50 people each."""

from __future__ import annotations

from dpheatmap.evaluate.score_table import Series
from dpheatmap.experiments.epsilon import best_of_all, better_than_baselines, poor_baseline
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import WITH_RIVALS, Data, Finding, Job, Study, over_epsilon

EPSILONS = ("1", "2", "5", "8", "10", "20")
PEOPLE, TRIALS = 50, 2
SIGMA = 0.03 * 320
"""In pixels: gaze maps are smoothed more than city maps."""


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: 38 images x 2 trials x 6 epsilons."""
    images = data.gaze()
    return over_epsilon(images.places, EPSILONS, people=PEOPLE, trials=TRIALS, methods=WITH_RIVALS, sigma=SIGMA), images


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about gaze."""
    series = panels[""]
    return [poor_baseline(series, 20.0), better_than_baselines(series), best_of_all(series)]


STUDY = Study(
    name="gaze",
    title="Gaze on images: 50 people, 320 x 240 pixels",
    axis="epsilon",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
)
