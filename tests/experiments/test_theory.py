"""Theory and measurement: who is drawn, what is drawn, and that the findings would tell."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.evaluate.method_variants import EVERY_METHOD, WIDTHS
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Mean
from dpheatmap.experiments import theory as bounds
from dpheatmap.experiments.figures import Sources


def line(places: list[float], values: list[float]) -> dict[float, dict[str, Mean]]:
    return {at: {m.name: Mean(v, v / 10, 4) for m in METRICS} for at, v in zip(places, values, strict=True)}


def made_up(by_places: float = 0.5, by_people: float = -1.0) -> dict[str, Series]:
    """Errors that follow power laws, the paper's with these exponents."""
    panels: dict[str, Series] = {}
    axes = {
        "epsilon": [float(e) for e in bounds.EPSILONS],
        "people": [float(n) for n in bounds.CROWDS],
        "places": [float(k) for k in WIDTHS],
    }
    for panel, at in axes.items():
        exponents = {"epsilon": -1.0, "people": by_people, "places": by_places}
        papers = [0.002 * (x / at[-1]) ** exponents[panel] for x in at]
        grid = [0.01 * (x / at[-1]) ** (0.0 if panel == "places" else -0.5) for x in at]
        panels[panel] = {"ladder": line(at, papers), "dense": line(at, grid)}
        for x, value in zip(at, papers, strict=True):
            name = f"paper-{x:g}" if panel == "places" else f"paper-{bounds.PLACES}"
            panels[panel] = {**panels[panel], name: {**panels[panel].get(name, {}), **line([x], [value])}}
    return panels


def test_jobs_are_told_apart_and_their_methods_exist() -> None:
    jobs, _ = bounds.jobs(Sources(invented=True))
    assert len({job.key for job in jobs}) == len(jobs) == bounds.DRAWS * 15
    assert all(name in EVERY_METHOD for job in jobs for name in job.methods)


@pytest.mark.parametrize("places", WIDTHS)
def test_people_are_in_exactly_so_many_cells(places: int) -> None:
    place = bounds.few_places(places, 500, 1)
    assert place.people == 500
    assert len(place.sample(500, np.random.default_rng(1)).codes) == places


def test_findings_tell_what_is_off() -> None:
    assert [finding.held for finding in bounds.findings(made_up())] == [True, True, True]
    assert [finding.held for finding in bounds.findings(made_up(by_places=1.0))] == [True, False, True]
    slow = bounds.findings(made_up(by_people=-0.2))
    assert [finding.held for finding in slow] == [True, True, False]
    assert "paper -0.20" in slow[2].evidence
    panels = made_up()
    panels["people"] = {**panels["people"], "dense": line([float(n) for n in bounds.CROWDS], [3.0] * 5)}
    told = bounds.findings(panels)[0]
    assert not told.held
    assert "dense at people 200" in told.evidence


def test_the_figure_has_three_panels_with_measurements_and_limits() -> None:
    from dpheatmap.experiments.populations import Dataset

    [(name, figure)] = bounds.figure(made_up(), Dataset((), "made up", stand_in=False))
    assert name == "bounds.png"
    for axes, label in zip(figure.axes, bounds.AXES.values(), strict=True):
        assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", label)
        drawn = {drawn.get_label() for drawn in axes.lines}
        assert {*bounds.LINES, EVERY_METHOD["paper"].title, EVERY_METHOD["dense"].title} <= drawn
