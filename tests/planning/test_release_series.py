"""Plans of many releases about the same people."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.design.composition import composes, rho_within
from dpheatmap.errors import ParameterError

DOMAIN = dph.Domain.unit(8)
LIMIT, DELTA = Fraction(1), Fraction(1, 10**6)


@pytest.mark.parametrize(("releases", "noises"), [(12, (17, 16)), (30, (42, 25)), (52, (74, 33)), (365, (516, 87))])
def test_noises_are_those_of_the_specification(releases: int, noises: tuple[int, int]) -> None:
    by_sum, _, gaussian = dph.plan_releases(DOMAIN, releases=releases, limit=1, users=10**5).ways
    assert (round(by_sum.noise), round(gaussian.noise)) == noises


@pytest.mark.parametrize("releases", [1, 2, 7, 52, 365])
def test_every_way_keeps_the_limit(releases: int) -> None:
    by_sum, series, gaussian = dph.plan_releases(DOMAIN, releases=releases, limit=1, users=10**5).ways
    assert releases * by_sum.each <= LIMIT
    assert composes(releases, series.each, LIMIT, DELTA)
    assert releases * gaussian.each <= rho_within(LIMIT, DELTA)


def test_one_release_has_a_pure_promise_and_a_year_has_gaussian_noise() -> None:
    assert dph.plan_releases(DOMAIN, releases=1, limit=1, users=10**5).best.name == "sum"
    weekly = dph.plan_releases(DOMAIN, releases=52, limit=1, users=10**5)
    assert weekly.best.name == "gaussian"
    assert "--noise gaussian --rho 0.000468382" in weekly.why


@pytest.mark.parametrize("best", ["sum", "series", "gaussian"])
def test_the_commands_that_a_plan_names_run(best: str, tmp_path: Path) -> None:
    plan = dph.plan_releases(DOMAIN, releases=52, limit=1, users=10**5)
    chosen = replace(plan, ways=tuple(replace(way, expected_emd=float(way.name != best)) for way in plan.ways))
    assert chosen.best.name == best
    commands = re.findall(r"dpheatmap (ledger .*?)(?:, |\.$)", chosen.why)
    assert len(commands) == 1 + (best == "series")
    named = {"LEDGER": str(tmp_path / "city.ledger"), "NAME": "riders"}
    for command in commands:
        assert run([named.get(word, word) for word in command.split()]) == 0


def test_the_command_tells_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    many = ["plan", "--unit", "--users", "100000", "--releases", "52", "--limit", "1"]
    assert run([*many, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["best"], told["delta"], len(told["ways"])) == ("gaussian", "1/1000000", 3)
    assert run(many) == 0
    assert "Best: Gaussian, by rho. It misplaces people by" in capsys.readouterr().out
    assert run(["plan", "--unit", "--users", "9", "--releases", "52"]) == 2
    assert "--releases and --limit go together" in capsys.readouterr().err
    assert run([*many, "--every", "weekday"]) == 2
    assert "slices have a plan of their own" in capsys.readouterr().err
    assert run(["plan", "--unit", "--users", "9"]) == 2
    assert "Missing option '--epsilon'" in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "delta"), [("1e-12", "1e-30"), ("1e-390", "1e-6")])
def test_limits_that_no_noise_could_have_are_refused(limit: str, delta: str) -> None:
    with pytest.raises(ParameterError, match="leave no budget whose noise fits"):
        dph.plan_releases(DOMAIN, releases=2, limit=limit, users=9, delta=delta)


def test_a_delta_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="delta must be above 0"):
        dph.plan_releases(DOMAIN, releases=2, limit=1, users=9, delta=0)
