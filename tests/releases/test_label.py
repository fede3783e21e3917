"""What is said of a large epsilon: the same words wherever epsilon is explained, and of a smaller one nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.releases.label import WEAK, caution
from dpheatmap.releases.noise_law import GaussianNoise, LaplaceNoise, NoiseLaw
from dpheatmap.releases.trust import Trust
from dpheatmap.testing import generated_people, seeded_release
from helpers import ROOT

WORDS = "An epsilon of 10 or more is a formality rather than a protection"
DOMAIN = dph.Domain.unit(3)


@pytest.mark.parametrize(("epsilon", "weak"), [("0.1", False), ("9.99", False), ("10", True), ("1000", True)])
def test_a_plan_and_a_label_say_it(epsilon: str, weak: bool) -> None:
    exact = Fraction(epsilon)
    assert (caution(exact) or "").startswith(WORDS if weak else "")
    plan = dph.plan(DOMAIN, epsilon=epsilon, users=50)
    assert plan.caution == plan.to_dict()["caution"] == caution(exact)
    assert str(plan).count(WORDS) == weak
    made = seeded_release(generated_people(9), DOMAIN, seed=1, epsilon=epsilon, user="person", x="x", y="y")
    assert made.label["how_strongly"].count(WORDS) == weak


@pytest.mark.parametrize(
    ("trust", "noise"),
    [(Trust("nobody", 9), GaussianNoise()), (Trust("servers", 9), LaplaceNoise(Fraction(2)))],
)
def test_it_is_said_whoever_was_trusted(trust: Trust, noise: NoiseLaw) -> None:
    made = seeded_release(generated_people(9), DOMAIN, seed=1, epsilon=20, user="person", x="x", y="y")
    assert str(caution(Fraction(20))) in replace(made, trust=trust, noise=noise).label["how_strongly"]


@pytest.mark.parametrize(("delta", "weak"), [("1e-6", False), ("0.000999", False), ("0.001", True), ("0.1", True)])
def test_a_large_delta_is_called_what_it_is(delta: str, weak: bool) -> None:
    """A rho of 3 is epsilon 17 at delta 1e-6, and 7 at 0.1: a label must not look better for a worse delta."""
    options: dict[str, Any] = {"noise": "gaussian", "rho": 3, "delta": delta, "user": "person", "x": "x", "y": "y"}
    told = seeded_release(generated_people(9), DOMAIN, seed=1, **options).label["how_strongly"]
    assert told.count("A delta of 0.001 or more is a formality, too") == weak
    assert weak or told.count(WORDS) == 1
    assert "so twice that rho." in told


def test_the_command_says_it_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = str(tmp_path / "people.parquet")
    generated_people(50).write_parquet(events)
    columns = ["--user", "person", "--x", "x", "--y", "y", "--unit", "--depth", "3", "--no-ledger"]
    for epsilon, times in (("100", 1), ("1", 0)):
        made = ["--epsilon", epsilon, "-o", str(tmp_path / f"{epsilon}.dph.parquet")]
        assert run(["release", events, *columns, *made]) == 0
        assert capsys.readouterr().err.count(WORDS) == times


def test_the_guide_says_so_of_the_same_epsilon() -> None:
    guide = (ROOT / "docs/guides/choosing-epsilon.md").read_text()
    rows = {row.split("|")[1].strip(): row for row in guide.splitlines() if row.startswith("| ")}
    assert "formal" in rows[str(WEAK)]
    assert "formal" not in rows["5"]
    assert f"From {WEAK} on, `plan`" in guide
