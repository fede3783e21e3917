"""An audit: how much does a release tell about one person, measured from outside?

Each *shape* is a pair of neighbouring data sets, without and with one person. The mechanism runs many times on both.
Each *event* of its output, fixed by the shape before anything is run, bounds epsilon from below: epsilon is at least
the log of the ratio of the event's probabilities, with the person and without (added) or the other way round
(removed). The bounds are Clopper and Pearson's, exact for any number of runs. One more event is found by splitting the
sample: its first half says which output to look for in the second.

The overall false-alarm rate is 1e-6, of the short and of the long form each: it is divided over all shapes, events and
directions, ``ALPHA = 1e-6 / (len(SHAPES) * EVENTS * 2)``. Where a test asks a bound to be large, of the mechanism as it
is or of one with a planted bug, the bound expected is six standard deviations larger (`test_power`): green stays green.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpheatmap as dph
from dpheatmap.curator.core.measure import measure_counts
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.design import Design
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements
from helpers import planted, planted_looks
from helpers.shapes import EPSILON, SHAPES, TIMES, UNVISITED, Shape, events, every, first_place

Mechanism = Callable[[Shape, bool], Callable[[], Measurements]]
Bug = Callable[[pytest.MonkeyPatch], None]

FIXED = {name: events(shape) for name, shape in SHAPES.items()}
EVENTS = len(FIXED["one level"]) + 1  # and the output that is most frequent in half of the sample
ALPHA = 1e-6 / (len(SHAPES) * EVENTS * 2)

SIZES = {"one level": 29_000, "two levels": 23_000, "many rows": 3_000, "closed": 23_000}
"""Runs on each side where a bound must be large, as `test_power` checks; two of the tests have a longer form."""


# Mechanisms: what runs on one side of a shape, and gives an output each time it is called


def through_release(shape: Shape, added: bool) -> Callable[[], Measurements]:
    counts = shape.counts(added=added)
    return lambda: dph.release(counts, **_options(shape)).measurements


def chosen_by_release(shape: Shape) -> Design:
    made: dph.Release = dph.release(shape.counts(added=True), **_options(shape))
    return made.design


def directly(shape: Shape, added: bool) -> Callable[[], Measurements]:
    """The measurement that release() makes, without what it does around it."""
    counts, design = shape.counts(added=added), shape.design
    return lambda: measure_counts(counts, PureLoss(EPSILON), design)


def _options(shape: Shape) -> dict[str, Any]:
    if isinstance(shape.design, AdaptiveDesign | LadderDesign):
        return {"epsilon": EPSILON, "design": shape.design.name}
    if isinstance(shape.design, DenseDesign):
        return {"epsilon": EPSILON, "design": "dense"}
    design = shape.design
    assert isinstance(design, PaperDesign)
    return {"epsilon": EPSILON, "design": "paper", "width": design.width, "first_level": design.first}


def from_a_table(shape: Shape, added: bool) -> Callable[[], Measurements]:
    """All the way from events: the others have a row each, the person a hundred in each of their cells."""
    side = 2**shape.domain.depth
    rows = [(f"other {k}", cell) for k, cell in enumerate(shape.others)]
    rows += [("them", cell) for cell in shape.person for _ in range(100 * added)]
    table = pd.DataFrame({
        "person": pd.Series([name for name, _ in rows], dtype=object),
        "x": [(x + 0.5) / side for _, (x, _) in rows],
        "y": [(y + 0.5) / side for _, (_, y) in rows],
    })  # fmt: skip
    options = {"user": "person", "x": "x", "y": "y", **_options(shape)}
    return lambda: dph.release(table, shape.domain, **options).measurements


def audit(name: str, size: int, mechanism: Mechanism) -> dict[str, float]:
    """Lower bounds on epsilon, by event and direction, from that many runs on either side of a shape."""
    shape = SHAPES[name]
    sides = [_run(mechanism(shape, added), shape, size) for added in (False, True)]
    hits = {event: [int(happens(rows).sum()) for rows in sides] for event, happens in FIXED[name].items()}
    bounds = {}
    for event, (without, added) in hits.items():
        bounds[f"{event}, added"] = epsilon_lower_bound(added, size, without, size, ALPHA)
        bounds[f"{event}, removed"] = epsilon_lower_bound(without, size, added, size, ALPHA)
    half = size // 2
    for direction, (here, there) in {"added": sides[::-1], "removed": sides}.items():
        outputs, numbers = np.unique(here[:half], axis=0, return_counts=True)
        most_frequent = outputs[np.argmax(numbers)]
        same = [int(every(rows[half:] == most_frequent).sum()) for rows in (here, there)]
        bounds[f"most frequent, {direction}"] = epsilon_lower_bound(same[0], size - half, same[1], size - half, ALPHA)
    assert len(bounds) == 2 * EVENTS
    return bounds


def _run(output: Callable[[], Measurements], shape: Shape, size: int) -> Ints:
    starts = np.array([first_place(level) for level in range(shape.domain.depth + 2)])
    rows = np.full((size, TIMES * starts[-1]), UNVISITED)
    for row in rows:
        m = output()
        places = starts[m.levels] + m.codes
        before = np.arange(len(places)) - np.searchsorted(places, places)  # a cell's measurements follow each other
        row[places + starts[-1] * before] = m.counts
    return rows


def largest(bounds: Mapping[str, float]) -> float:
    """The largest bound; what the others were is shown when a test fails, and with ``pytest -rP``."""
    for event, bound in sorted(bounds.items(), key=lambda item: -item[1]):
        print(f"{bound:8.3f}  {event}")
    return max(bounds.values())


# The audit of the mechanism as it is


def check_that_it_is_tight(name: str, size: int, mechanism: Mechanism, part: float = 0.85) -> None:
    """No bound is above epsilon, and it comes near it that all of the person's cells lie above their true values."""
    bounds = audit(name, size, mechanism)
    assert largest(bounds) <= EPSILON
    assert bounds["all of theirs above, added"] >= part * EPSILON


def test_one_level() -> None:
    check_that_it_is_tight("one level", SIZES["one level"], through_release)


def test_two_levels() -> None:
    """By the design that `release` chooses; the long form goes through it each time."""
    assert chosen_by_release(SHAPES["two levels"]) == SHAPES["two levels"].design
    check_that_it_is_tight("two levels", SIZES["two levels"], directly, part=0.75)


def test_a_cell_that_is_closed() -> None:
    check_that_it_is_tight("closed", SIZES["closed"], directly, part=0.75)


OTHERS = ["two cells", "empty cell", "tight competitor", "several cells"]
OTHERS += ["grid", "looks at one", "looks at a strip", "looks at an even map"]
OF_ADAPTIVE = ["total", "closed or finished", "start", "uneven", "spread"]
"""Shapes of a design that is no longer the default."""


@pytest.mark.parametrize("name", [*OTHERS, *(pytest.param(name, marks=pytest.mark.long) for name in OF_ADAPTIVE)])
def test_other_shapes(name: str) -> None:
    assert largest(audit(name, 3_000, directly)) <= EPSILON


@pytest.mark.parametrize("name", ["looks, as released", "spread, as released", "grid, as released"])
def test_designs_as_they_are_released(name: str) -> None:
    assert chosen_by_release(SHAPES[name]) == SHAPES[name].design
    assert largest(audit(name, 3_000, through_release)) <= EPSILON


@pytest.mark.long
def test_one_level_long() -> None:
    check_that_it_is_tight("one level", 100_000, through_release)


@pytest.mark.long
def test_two_levels_long() -> None:
    check_that_it_is_tight("two levels", 200_000, through_release)


@pytest.mark.long
def test_a_cell_that_is_closed_long() -> None:
    check_that_it_is_tight("closed", 200_000, directly)


@pytest.mark.long
@pytest.mark.parametrize("name", [*OTHERS, *OF_ADAPTIVE])
def test_other_shapes_long(name: str) -> None:
    assert largest(audit(name, 100_000, directly)) <= EPSILON


@pytest.mark.long
def test_a_person_with_many_rows_weighs_one_person() -> None:
    check_that_it_is_tight("many rows", SIZES["many rows"], from_a_table, part=0.5)


# The same audit of mechanisms with a bug in them

PLANTED: dict[Bug, tuple[str, int, float]] = {
    planted.scale_too_small: ("one level", 16_500, 2.5),
    planted.weight_too_large: ("one level", 23_500, 2.4),
    planted.whole_budget_on_each_level: ("two levels", 8_000, 4.0),
    planted.selection_from_true_counts: ("tight competitor", 2_000, math.inf),
    planted.noise_shared_by_cells: ("two levels", 2_000, math.inf),
    planted.noise_shared_by_levels: ("two levels", 2_000, math.inf),
    planted.noise_shared_by_releases: ("two levels", 2_000, math.inf),
    planted.closed_with_all_of_epsilon: ("closed", 13_500, 3.0),
    planted.paths_spend_twice: ("closed", 28_000, 3.0),
    planted.total_for_nothing: ("total", 13_500, 3.0),
    planted.opening_by_true_counts: ("closed or finished", 2_000, math.inf),
    planted.start_by_true_total: ("start", 2_000, math.inf),
    planted.evenness_by_true_counts: ("uneven", 2_000, math.inf),
    planted.grid_with_all_of_epsilon: ("grid", 13_500, 3.0),
    planted.noise_of_grid_too_small: ("grid", 8_000, 4.0),
    planted.grid_by_true_total: ("grid", 2_000, math.inf),
    planted_looks.closed_by_true_counts: ("looks at one", 2_000, math.inf),
    planted_looks.children_share_noise: ("looks at one", 2_000, math.inf),
    planted_looks.opened_by_true_counts: ("looks at a strip", 2_000, math.inf),
    planted_looks.evenness_by_true_counts_of_looks: ("looks at an even map", 2_000, math.inf),
}
"""The shape that shows each bug, runs on each side, and the epsilon that the mechanism has with it.

Finer bugs of the ladder's looks take more runs, a cell each (`evaluate/audit/test_audit.py`), and some take all outputs
that there are (`test_looks_exact.py`).
"""


STOPPED = [planted.closed_with_all_of_epsilon, planted.paths_spend_twice, planted.total_for_nothing]
STOPPED += [planted.grid_with_all_of_epsilon]
"""Bugs that overspend a path: the walk stops at them. In the long form the audit finds them where it checks nothing."""


@pytest.mark.parametrize("bug", STOPPED, ids=lambda bug: bug.__name__)
def test_planted_and_stopped_by_the_check_of_paths(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    run = directly(SHAPES[PLANTED[bug][0]], True)
    run()
    bug(monkeypatch)
    with pytest.raises(AssertionError, match="a design would"):
        run()


@pytest.mark.parametrize(
    "bug",
    [pytest.param(bug, marks=pytest.mark.long if bug in STOPPED else ()) for bug in PLANTED],
    ids=lambda bug: bug.__name__,
)
def test_planted(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the runs nearly always show a bug; if they don't, all of them anew surely do."""
    name, size, really = PLANTED[bug]
    bug(monkeypatch)
    if bug in STOPPED:
        planted.unchecked(monkeypatch)
    found = largest(audit(name, size // 2, directly))
    if found <= EPSILON:
        found = largest(audit(name, size, directly))
    assert EPSILON < found <= really


@pytest.mark.long
def test_planted_in_the_aggregation(monkeypatch: pytest.MonkeyPatch) -> None:
    planted.rows_weigh_like_people(monkeypatch)
    assert largest(audit("many rows", 1_000, from_a_table)) > EPSILON


@pytest.mark.parametrize(
    ("often", "seldom", "size", "beyond"),
    [
        (1 / 2, math.exp(-2) / 2, SIZES["one level"], 0.85 * 2),
        (1 / 4, math.exp(-2) / 4, SIZES["two levels"], 0.75 * 2),
        (1 / 2, math.exp(-2) / 2, SIZES["many rows"], 0.5 * 2),
        (1 / 2, math.exp(-2.5) / 2, PLANTED[planted.scale_too_small][1], 2),
        (1 / 2, math.exp(-2.4) / 2, PLANTED[planted.weight_too_large][1], 2),
        (1 / 4, math.exp(-4) / 4, PLANTED[planted.whole_budget_on_each_level][1], 2),
        (1 / 4, math.exp(-2) / 4, SIZES["closed"], 0.75 * 2),
        (1 / 4, math.exp(-3) / 4, PLANTED[planted.closed_with_all_of_epsilon][1], 2),
        (1 / 8, math.exp(-3) / 8, PLANTED[planted.paths_spend_twice][1], 2),
        (1 / 4, math.exp(-3) / 4, PLANTED[planted.total_for_nothing][1], 2),
        (1 / 4, math.exp(-3) / 4, PLANTED[planted.grid_with_all_of_epsilon][1], 2),
        (1 / 4, math.exp(-4) / 4, PLANTED[planted.noise_of_grid_too_small][1], 2),
    ],
)
def test_power(often: float, seldom: float, size: int, beyond: float) -> None:
    """The bound expected of an event with these probabilities is six standard deviations beyond what is asked."""
    bound = epsilon_lower_bound(round(often * size), size, round(seldom * size), size, ALPHA)
    deviation = math.sqrt((1 / often - 1) / size + (1 / seldom - 1) / size)
    assert bound - 6 * deviation >= beyond
