"""The questions that claims come down to."""

from __future__ import annotations

import pytest

from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Mean
from dpheatmap.experiments import epsilon as comparison
from dpheatmap.experiments import resolution, synthetic, users
from dpheatmap.experiments.claims import better_methods, improves, listing, lost_cases, trend, worsens
from dpheatmap.experiments.study import Finding, paragraph

EMD = METRICS[-1]
METHODS = ("paper", "baseline", "top-0.001", "top-0.01", "top-0.1", "top-1")


def line(errors: dict[float, float]) -> dict[float, dict[str, Mean]]:
    """All four metrics of the same error, which for two of them means 1 - error."""
    return {at: {m.name: Mean(1 - e if m.more_is_better else e, 0.01, 10) for m in METRICS} for at, e in errors.items()}


SERIES: Series = {
    "paper": line({1: 0.3, 2: 0.2}),
    "baseline": line({1: 0.5, 2: 0.6}),
    "privtree": line({1: 0.25, 2: 0.3}),
    "hb": line({1: 0.1, 2: 0.4}),
}


def test_who_is_better() -> None:
    assert better_methods(SERIES, "paper", 1, EMD, SERIES) == ["hb", "privtree"]
    assert better_methods(SERIES, "paper", 2, EMD, SERIES) == []
    lost, cases = lost_cases(SERIES, "paper", tuple(SERIES))
    assert cases == 8
    assert lost[0] == "similarity at 1 by Hierarchy, best fan-out"
    assert len(lost) == 4
    assert lost_cases(SERIES, "paper", ("paper", "baseline")) == ([], 8)


def test_what_gets_better_along_the_axis() -> None:
    assert improves(SERIES, "paper")
    assert not worsens(SERIES, "paper")
    assert worsens(SERIES, "baseline")
    assert trend(SERIES, "paper") == "EMD 0.3 0.2"
    assert listing([]) == "none"


def test_a_paragraph_says_what_held() -> None:
    text = paragraph([Finding("a", True, "1"), Finding("b", False, "2")])
    assert text == "Held: a (1). NOT HELD: b (2)."


def held(findings: list[Finding]) -> list[bool]:
    return [finding.held for finding in findings]


EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


def compared(paper: tuple[float, ...], top: float, baseline: float = 0.9) -> dict[str, Series]:
    fixed = {name: line(dict.fromkeys(EPSILONS, top)) for name in METHODS[2:]}
    return {
        "": {
            "paper": line(dict(zip(EPSILONS, paper, strict=True))),
            "baseline": line(dict.fromkeys(EPSILONS, baseline)),
            **fixed,
        }
    }


@pytest.mark.parametrize(
    ("panels", "wanted"),
    [
        (compared((0.39, 0.1, 0.1, 0.1, 0.1, 0.38), 0.4), [True, True, True, True, True]),
        (compared((0.3, 0.39, 0.39, 0.39, 0.39, 0.3), 0.4), [True, True, True, False, True]),
        (compared((0.5, 0.1, 0.1, 0.1, 0.1, 0.5), 0.4), [False, True, False, True, False]),
        (compared((0.1,) * 6, 0.85), [True, False, True, False, True]),
    ],
)
def test_claims_of_the_comparison(panels: dict[str, Series], wanted: list[bool]) -> None:
    assert held(comparison.findings(panels)) == wanted


def falling(places: tuple[int, ...], start: float, step: float) -> dict[float, dict[str, Mean]]:
    return line({at: start + step * k for k, at in enumerate(places)})


def test_claims_about_people() -> None:
    good = {"paper": falling(users.PEOPLE, 0.5, -0.05), "baseline": falling(users.PEOPLE, 0.6, -0.01)}
    worse_again = {name: line({50: 0.5, 100: 0.3, 500: 0.4}) for name in METHODS[2:]}
    poor = {name: falling(users.PEOPLE, 0.9, 0) for name in METHODS[2:]}
    panels: dict[str, Series] = {"epsilon 10": {**good, **worse_again}, "epsilon 1": {**good, **poor}}
    assert held(users.findings(panels)) == [True] * 4
    flat = {**good, "baseline": falling(users.PEOPLE, 0.6, 0.0)}
    steady = {name: falling(users.PEOPLE, 0.5, -0.01) for name in METHODS[2:]}
    panels = {"epsilon 10": {**flat, **steady}, "epsilon 1": {**good, **steady}}
    assert held(users.findings(panels)) == [False, True, False, False]


def test_claims_about_resolution() -> None:
    sides = (64, 128, 256, 512)
    one = {"paper": falling(sides, 0.3, 0.01), "baseline": falling(sides, 0.5, 0.1)}
    panel: Series = {
        **one,
        "top-0.001": falling(sides, 0.6, 0.0),
        "top-0.01": line({64: 0.6, 128: 0.5, 256: 0.2, 512: 0.4}),
    }
    assert held(resolution.findings({"epsilon 10": panel, "epsilon 1": panel})) == [True] * 6
    other: Series = {**panel, "paper": falling(sides, 0.3, 0.1), "top-0.01": falling(sides, 0.4, -0.01)}
    assert held(resolution.findings({"epsilon 10": other, "epsilon 1": panel})) == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]


def test_claims_about_sparsity() -> None:
    places = (2, 5, 10, 20, 30)
    slow: Series = {"paper": falling(places, 0.2, 0.01), "baseline": falling(places, 0.8, -0.1)}
    fast: Series = {"paper": falling(places, 0.2, 0.1), "baseline": falling(places, 0.8, -0.1)}
    assert held(synthetic.findings({synthetic.FIXED: slow, synthetic.VARIED: fast})) == [True] * 5
    assert held(synthetic.findings({synthetic.FIXED: fast, synthetic.VARIED: slow})) == [True, True, True, True, False]
    turned: Series = {"paper": slow["baseline"], "baseline": slow["paper"]}
    assert held(synthetic.findings({synthetic.FIXED: turned, synthetic.VARIED: slow})) == [
        False,
        False,
        True,
        True,
        True,
    ]
