"""The audit finds planted bugs, and does not cry wolf.

False alarms: 1e-6 for each call of `audit`. That a bug is found, or that a bound is large, is certain but for six
standard deviations or more: the figures that the bugs have are those of `curator/test_privacy.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from html import escape
from pathlib import Path

import pytest

from curator import planted
from dpheatmap.cli import run
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.audit import Audit, audit
from dpheatmap.evaluate.audit_report import as_html, as_text
from dpheatmap.evaluate.audit_shapes import sampler_shape, shapes

Bug = Callable[[pytest.MonkeyPatch], None]

PLANTED: dict[Bug, tuple[str, str, float]] = {
    planted.scale_too_small: ("paper", "one cell", 0.35),
    planted.weight_too_large: ("paper", "one cell", 0.45),
    planted.whole_budget_on_each_level: ("paper", "two levels", 0.5),
    planted.selection_from_true_counts: ("paper", "tipping the balance", 0.5),
    planted.noise_shared_by_cells: ("paper", "two levels", 0.5),
    planted.noise_shared_by_levels: ("paper", "two levels", 0.5),
    planted.noise_shared_by_releases: ("paper", "two levels", 0.5),
    planted.closed_with_all_of_epsilon: ("adaptive", "alone", 1),
    planted.paths_spend_twice: ("adaptive", "alone", 1),
    planted.opening_by_true_counts: ("adaptive", "on the threshold", 0.5),
    planted.rows_weigh_like_people: ("paper", "many rows", 1),
    planted.noise_of_grid_too_small: ("dense", "two levels", 0.3),
    planted.grid_by_true_total: ("dense", "on the threshold", 0.5),
}
"""The design and shape that show each bug, and the effort that is enough; never more than that of a whole audit."""


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.__name__)
def test_planted(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    design, shape, effort = PLANTED[bug]
    assert effort <= 1
    made = shapes(design, Fraction(2))  # before the bug, for they follow the design's decisions
    monkeypatch.setattr("dpheatmap.evaluate.audit.shapes", lambda *of: made)
    planted.unchecked(monkeypatch)
    bug(monkeypatch)
    found = audit(2, designs=[design], only=[shape], effort=effort, workers=1)
    assert found.refuted, as_text(found)
    assert "REFUTED" in found.verdict


@pytest.fixture(scope="module")
def whole() -> Audit:
    """Everything, with a tenth of the runs."""
    return audit(2, designs=["adaptive", "paper"], effort=0.1, workers=2)


def test_the_mechanism_as_it_is_is_not_refuted(whole: Audit) -> None:
    assert not whole.refuted, as_text(whole)
    assert whole.bound >= 0.85 * 2
    assert {finding.design for finding in whole.findings} == {"adaptive", "paper", "any"}


def test_the_dense_design_as_it_is_is_not_refuted() -> None:
    found = audit(2, designs=["dense"], only=["two levels", "on the threshold"], effort=0.1, workers=1)
    assert not found.refuted, as_text(found)
    assert {(finding.design, finding.shape) for finding in found.findings} == {
        ("dense", "two levels"),
        ("dense", "on the threshold"),
    }


def test_the_noise_sampler_is_tight() -> None:
    found = audit(2, only=["noise sampler"], workers=1)
    assert 0.97 * 2 <= found.bound <= 2


@pytest.mark.long
def test_the_full_audit_certifies_nine_tenths() -> None:
    found = audit(2, designs=["adaptive", "paper"])
    assert 0.9 * 2 <= found.bound <= 2
    for design in ("adaptive", "paper"):
        assert max(f.epsilon for f in found.findings if f.design == design) >= 0.9 * 2, as_text(found)


def test_events_are_judged_by_runs_that_did_not_choose_them(whole: Audit) -> None:
    for finding in whole.findings:
        for bound in finding.bounds:
            assert bound.runs == finding.runs - finding.runs // 5
        assert [b.epsilon for b in finding.bounds] == sorted((b.epsilon for b in finding.bounds), reverse=True)
        assert len(finding.bounds) == (4 if finding.shape == "noise sampler" else 12)


def test_shapes_are_neighbours() -> None:
    every = [shape for design in ("paper", "adaptive", "dense") for shape in shapes(design, Fraction(2))]
    for shape in [*every, sampler_shape()]:
        assert sum(shape.person.values()) == 1, shape.name
        without, added = shape.weights(added=False), shape.weights(added=True)
        assert sum(added.values()) - sum(without.values()) == 2**30


def test_the_report_tells_what_was_tried_and_loads_nothing(whole: Audit) -> None:
    page = as_html(whole, "dpheatmap <test>")
    for finding in whole.findings:
        assert escape(finding.why) in page
        assert finding.shape in as_text(whole)
    assert "dpheatmap &lt;test&gt;" in page
    assert whole.verdict in page
    assert "<svg" in page
    assert "http" not in page
    assert "src=" not in page


def test_the_command_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["audit", "--effort", "0.002", "--design", "paper"]
    assert run([*options, "-o", str(tmp_path / "a.html")]) == 0
    assert "Not refuted" in capsys.readouterr().out
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert run([*options, "--json", "-o", str(tmp_path / "a.json")]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "a.json").read_text())
    assert run([*options, "-o", str(tmp_path / "a.txt")]) == 2
    assert run(["audit", "--design", "magic"]) == 2
    with pytest.raises(ParameterError):
        audit(0)


def test_the_command_ends_with_1_if_the_promise_is_refuted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.noise_shared_by_releases(monkeypatch)
    monkeypatch.setattr("dpheatmap.evaluate.pool.cores", lambda: 1)
    monkeypatch.setattr("dpheatmap.evaluate.audit.shapes", lambda *of: shapes(*of)[1:2])
    assert run(["audit", "--effort", "0.2", "--design", "paper"]) == 1
    assert "REFUTED" in capsys.readouterr().err
