"""The attack finds planted bugs, stays within the promise otherwise, and is as strong as an attack can be.

False alarms: 1e-6 for each call of `attack`. That a planted bug is found is certain but for six standard deviations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator.core import measure, slices
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.noise import DiscreteLaplace, discrete_laplace
from dpheatmap.design.paper import all_at_once
from dpheatmap.design.privacy_loss import ApproximateLoss, ConcentratedLoss, PrivacyLoss, PureLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.audit import membership
from dpheatmap.evaluate.audit.attack_bound import AttackBound, together
from dpheatmap.evaluate.audit.attack_figure import AttackFigure
from dpheatmap.evaluate.audit.attack_words import as_text, takeaway, verdict
from dpheatmap.evaluate.audit.invented_people import MOST_PEOPLE, PLACES, TARGETS, busy_place, people_like, places_of
from dpheatmap.evaluate.audit.membership import Attack, Attempt, Threshold, attack
from dpheatmap.place.quadtree import decode, encode
from dpheatmap.releases.noise_law import shuffled_noise
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.releases.trust import Trust
from dpheatmap.render.figure.canvas import PillowCanvas
from dpheatmap.render.palette import DARK, LIGHT, Theme
from dpheatmap.testing import generated_people, seeded_release

Bug = Callable[[pytest.MonkeyPatch], None]


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    honest = measure.noise_of_shares

    def quieter(loss: PrivacyLoss, shares: tuple[int, ...]) -> dict[int, DiscreteLaplace]:
        return {share: discrete_laplace(2 * law.rate) for share, law in honest(loss, shares).items()}

    patch.setattr(measure, "noise_of_shares", quieter)
    patch.setattr(slices, "noise_of_shares", quieter)


def weight_of_two(patch: pytest.MonkeyPatch) -> None:
    honest = Counts.exact
    patch.setattr(Counts, "exact", lambda self, level, codes: 2 * honest(self, level, codes))


def plain(design: str = "ladder", epsilon: object = 1, people: int = 60, depth: int = 4) -> Release:
    made: Release = dph.release(
        generated_people(people), dph.Domain.unit(depth), epsilon=epsilon, design=design, user="person", x="x", y="y"
    )
    return made


def sliced(epsilon: object = 1, depth: int = 4, **options: Any) -> SlicedRelease:
    table = generated_people(60).project(
        "*, CAST(hash(x) % 3 AS VARCHAR) AS club, CAST(hash(y) % 86400 AS BIGINT) AS s"
    )
    made: SlicedRelease = dph.release(
        table, dph.Domain.unit(depth), epsilon=epsilon, user="person", x="x", y="y", **options
    )
    return made


HOURS: dict[str, Any] = {"time": "s", "every": "weekday", "time_zone": "UTC"}
CLUBS: dict[str, Any] = {"group": "club", "groups": ["0", "1", "2"]}
SLICED = {"times": HOURS, "groups": CLUBS, "both": HOURS | CLUBS, "epsilon": CLUBS | {"split": "epsilon"}}


@pytest.mark.parametrize("design", ["ladder", "paper", "adaptive", "dense"])
def test_every_design_as_it_is_stays_within_the_promise(design: str) -> None:
    found = attack([plain(design)], effort=0.1, workers=1)
    assert not found.fails, as_text(found)
    assert [attempt.target for attempt in found.attempts] == ["alone", "in a crowd", "in many places"]
    assert "Not refuted" in verdict(found)


@pytest.mark.parametrize("options", SLICED.values(), ids=SLICED.keys())
def test_slices_as_they_are_stay_within_the_promise(options: dict[str, Any]) -> None:
    found = attack([sliced(**options)], effort=0.05, workers=1)
    assert not found.fails, as_text(found)


@pytest.mark.parametrize("bug", [half_the_noise, weight_of_two], ids=lambda bug: bug.__name__)
@pytest.mark.parametrize("design", ["ladder", "paper"])
def test_planted(bug: Bug, design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plain(design, epsilon=2, depth=1)
    bug(monkeypatch)
    found = attack([made], effort=0.25, workers=1)
    assert found.fails, as_text(found)
    assert "FAILED" in verdict(found)


@pytest.mark.parametrize("bug", [half_the_noise, weight_of_two], ids=lambda bug: bug.__name__)
def test_planted_in_slices(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sliced(epsilon=2, depth=1, **CLUBS)
    bug(monkeypatch)
    found = attack([made], effort=0.25, workers=1)
    assert found.fails, as_text(found)


def test_rows_that_weigh_like_people_are_seen_in_many_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read as for a release: whoever has sixteen rows weighs sixteen there."""
    made = plain("paper", depth=2)
    honest = dph.aggregate
    monkeypatch.setattr(
        membership,
        "aggregate",
        lambda path, domain, user, **columns: honest(path, domain, each_row_is_a_person=True, **columns),
    )
    found = attack([made], effort=0.2, workers=1)
    assert found.fails
    assert [any(one.exceeds for one in attempt.thresholds) for attempt in found.attempts] == [False, False, True]


def test_one_cell_reaches_the_bound() -> None:
    """Laplace noise on one count: half of the participants are found at exp(-epsilon) / 2 mistakes, which is all.

    A noisy count moves right guesses to 1 - exp(-epsilon / 2) / 2. Six standard deviations are allowed for.
    """
    found = attack([plain("paper", depth=0)], workers=1)
    bound = found.bound
    for attempt in found.attempts:
        top = [one for one in attempt.thresholds if one.test == "likelihood ratio"][-1]
        off = 6 * math.sqrt(0.25 / top.runs)
        assert top.hits / top.runs == pytest.approx(0.5, abs=off)
        assert top.hits / top.runs == pytest.approx(bound.true_rate(top.mistakes / top.runs), abs=(1 + math.e) * off)
        assert attempt.accuracy == pytest.approx(1 - math.exp(-0.5) / 2, abs=6 * math.sqrt(0.25 / (2 * top.runs)))
    assert not found.fails


def test_releases_of_the_same_people_add_up() -> None:
    """Two counts with Laplace noise of epsilon 2: 0.866 of guesses are right by both, by simulation; 0.816 by one.

    Six standard deviations are allowed for, and are less than the distance of the two.
    """
    both = attack([plain("paper", epsilon=2, depth=0) for _ in range(2)], workers=1)
    assert both.loss.epsilon == 4
    assert not both.fails
    for attempt in both.attempts:
        assert attempt.accuracy == pytest.approx(0.866, abs=6 * math.sqrt(0.866 * 0.134 / attempt.right[1]))
    assert "these 2 releases" in takeaway(both)


def test_thresholds_are_judged_by_runs_that_did_not_choose_them() -> None:
    found = attack([plain()], effort=0.05, workers=1)
    assert found.runs == 200
    for attempt in found.attempts:
        assert {one.runs for one in attempt.thresholds} == {160}
        assert len(attempt.thresholds) <= len(membership.LEVELS) * len(membership.TESTS)
        for one in attempt.thresholds:
            assert one.found[0] <= one.hits / one.runs <= one.found[1]


# The bound


def test_bounds_of_losses() -> None:
    pure = AttackBound.of(PureLoss(Fraction(1)))
    assert pure.accuracy == pytest.approx(math.e / (1 + math.e))
    assert pure.true_rate(0.1) == pytest.approx(0.1 * math.e)
    assert pure.true_rate(0.9) == pytest.approx(1 - 0.1 / math.e)
    assert (pure.true_rate(0.0), pure.true_rate(1.0)) == (0.0, 1.0)
    some = AttackBound.of(ApproximateLoss(Fraction(1), Fraction(1, 100)))
    assert some.true_rate(0.0) == pytest.approx(0.01)
    assert some.accuracy == pytest.approx((math.e + 0.01) / (math.e + 1))
    assert AttackBound.of(PureLoss(Fraction(10**6))).true_rate(0.001) == 1.0


@pytest.mark.parametrize("rho", [Fraction(1, 50), Fraction(1, 2), Fraction(4)])
def test_the_bound_of_a_rho_holds_for_gaussian_noise_and_is_not_idle(rho: Fraction) -> None:
    """The Gaussian mechanism of rho finds normal(normal^-1(f) + sqrt(2 rho)) of the participants."""
    from statistics import NormalDist

    bound, normal = AttackBound.of(ConcentratedLoss(rho)), NormalDist()
    move = math.sqrt(2 * rho)
    for rate in (1e-4, 0.01, 0.1, 0.3, 0.5, 0.9):
        assert normal.cdf(normal.inv_cdf(rate) + move) <= bound.true_rate(rate) <= 1.0
    right = normal.cdf(move / 2)
    assert right <= bound.accuracy <= right + 0.1


def test_losses_of_two_kinds_add_up() -> None:
    both = together([PureLoss(Fraction(1, 10)), ConcentratedLoss(Fraction(1, 50))])
    assert isinstance(both, ConcentratedLoss)
    assert both.rho == Fraction(1, 50) + Fraction(1, 200)


# Invented people


def test_people_are_as_many_as_the_map_tells_and_where_it_tells() -> None:
    made = plain(people=3000, epsilon=5)
    found = people_like(made)
    (others,) = found.others
    assert found.people == len(others) == round(made.distribution().total)
    shares = np.bincount(others >> 4, minlength=16) / len(others)
    expected = made.distribution().coarser(2)
    mass = np.zeros(16)
    for level, code, part in zip(
        expected.levels.tolist(), expected.codes.tolist(), expected.mass.tolist(), strict=True
    ):
        mass[code << 2 * (2 - level) : (code + 1) << 2 * (2 - level)] += part / 4 ** (2 - level)
    assert np.abs(shares - mass).max() < 0.01
    assert [len(found.targets[name][0]) for name in ("alone", "in a crowd", "in many places")] == [1, 1, PLACES]


def test_there_are_at_most_so_many() -> None:
    chart = Distribution(dph.Domain.unit(3), np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1), 1e9)
    assert len(places_of(chart, 64)) == 64
    made = plain("paper", people=5, depth=1)
    many = replace(made.measurements, counts=made.measurements.counts + 2 * MOST_PEOPLE * UNITS)
    large = replace(made, measurements=many)
    found = people_like(large)
    assert found.people > MOST_PEOPLE
    assert 0.999 * MOST_PEOPLE < len(found.others[0]) <= MOST_PEOPLE


def test_places_of_a_boundary_are_inside() -> None:
    triangle = {"type": "Polygon", "coordinates": [[[7, 46], [7.5, 46], [7, 46.4], [7, 46]]]}
    domain = dph.Domain.polygon(triangle, depth=14)
    whole = Distribution.uniform(domain)
    codes = np.append(places_of(whole, 500), busy_place(whole))
    assert domain.meets(domain.depth, *decode(codes)).all()


def test_the_table_holds_everybody_where_they_are() -> None:
    """On the ground, with cells that reach beyond the box: what is counted is what the attacker knows."""
    domain = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=13)
    made = dph.release(
        generated_people(200, extent=(7.3, 46.9, 7.5, 47.02)), domain, epsilon=1, user="person", x="x", y="y"
    )
    people = people_like(made)
    for target, events in people.targets.items():
        side = membership._side_of(made, people.others, events)
        without, added = (membership._read_table(side, flag) for flag in (False, True))
        table = added.to_arrow().to_pydict()
        weights = dict(zip(encode(np.array(table["x"]), np.array(table["y"])).tolist(), table["weight"], strict=True))
        expected: dict[int, int] = {}
        for code in people.others[0].tolist():
            expected[code] = expected.get(code, 0) + UNITS
        for code in events[0].tolist():
            expected[code] = expected.get(code, 0) + UNITS // len(events[0])
        assert weights == expected, target
        assert added.total - without.total == UNITS


# Refusals, words and the figure


def test_releases_that_cannot_be_attacked_are_refused() -> None:
    seeded = seeded_release(generated_people(5), dph.Domain.unit(2), seed=1, epsilon=1, user="person", x="x", y="y")
    with pytest.raises(ParameterError, match="seed"):
        attack([seeded])
    place = dph.Domain.unit(2)
    design = all_at_once(place)
    noisy = np.zeros(len(design.coordinates(place)[0]), np.int64)
    loss, trust = ApproximateLoss(Fraction(5), Fraction(1, 10**5)), Trust("shuffler", 60)
    collected = Release.collected(place, design, noisy, loss=loss, trust=trust, noise=shuffled_noise(60, 50), units=256)
    with pytest.raises(ParameterError, match="collected from devices"):
        attack([collected])


def invented_attack(found: float = 0.62, exceeding: bool = False) -> Attack:
    runs = 1000
    bound = AttackBound.of(PureLoss(Fraction(1)))

    def threshold(false_rate: float, true_rate: float) -> Threshold:
        low, high = (true_rate - 0.05, true_rate + 0.05), (false_rate - 0.05, false_rate + 0.05)
        allowed = 0.0 if exceeding else bound.true_rate(min(false_rate + 0.05, 1.0))
        return Threshold("sum", 0.0, round(runs * true_rate), round(runs * false_rate), runs, low, high, allowed)

    rates = ((1 - found, found), (0.1, 0.1 + 0.5 * (found - 0.5)))
    attempts = tuple(
        Attempt(target, where, tuple(threshold(*rate) for rate in rates), 0) for target, where in TARGETS.items()
    )
    return Attack((PureLoss(Fraction(1)),), (250_000,), (100_000,), attempts, 1250, 1e-6, 1.0)


def test_the_words_that_a_board_reads() -> None:
    found = invented_attack()
    assert takeaway(found) == (
        "Of 100 people who guess whether you took part, and know everything else, 50 are right by tossing a coin, at "
        "most 73 by what this release promises, and 62 by the best attack."
    )
    text = as_text(found)
    assert "100,000 people were invented from its map (for speed, fewer than the 250,000 that the map tells)" in text
    assert "once in 1,000,000 such attacks" in text
    assert found.to_dict()["right_at_most"] == pytest.approx(0.7311, abs=1e-4)
    json.dumps(found.to_dict())


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_figure_paints_as_many_guesses_as_are_right(theme: Theme) -> None:
    """The dots of each hundred are counted by their colours."""
    figure = AttackFigure(invented_attack(), theme)
    picture = np.asarray(figure.draw(PillowCanvas).picture)
    attacked, promised = figure._colours
    for column, (colour, expected) in enumerate([(figure._soft, 50), (attacked, 62), (promised, 73)]):
        left, top = 2 * (20 + 240 * column), 2 * (figure._guesses_top + 92)
        middles = [(round(top + 32 * row + 11), round(left + 32 * k + 11)) for row in range(10) for k in range(10)]
        assert sum(tuple(picture[at].tolist()) == colour for at in middles) == expected


def test_a_figure_of_a_failure_says_so_in_red() -> None:
    good, bad = (AttackFigure(invented_attack(exceeding=flag), LIGHT) for flag in (False, True))
    pictures = [np.asarray(figure.draw(PillowCanvas).picture) for figure in (good, bad)]
    assert [tuple(picture[4, 4].tolist()) for picture in pictures] == [(255, 255, 255), (0xB3, 0x26, 0x1E)]
    assert pictures[1].shape[0] > pictures[0].shape[0]


def test_a_figure_says_that_nothing_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve may run above the promise by chance, and nobody but the figure tells a board so."""
    drawn: list[tuple[float, float, str]] = []
    text = PillowCanvas.text

    def watching(self: PillowCanvas, x: float, y: float, words: str, **options: Any) -> None:
        drawn.append((x, y, words))
        text(self, x, y, words, **options)

    monkeypatch.setattr(PillowCanvas, "text", watching)
    for exceeding in (False, True):
        drawn.clear()
        figure = AttackFigure(invented_attack(exceeding=exceeding), LIGHT)
        figure.draw(PillowCanvas)
        said = " ".join(words for _, _, words in drawn)
        assert ("Not refuted: the attack finds no more than was promised" in said) == (not exceeding)
        assert ("it is by chance: the ranges reach it." in said) == (not exceeding)
        right, bottom = figure._at(1.0, 0.0)
        assert max(y for x, y, _ in drawn if 2 * right + 20 < x < 2 * 700) <= 2 * bottom, "beside the panel"


# The command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain("paper", depth=1).save("june.dph.parquet")
    options = ["--effort", "0.01"]
    for name in ("attack.png", "attack.pdf", "attack.json"):
        assert run(["audit", "--attack", "june.dph.parquet", "-o", name, "--colours", "dark", *options]) == 0
        assert "Can anyone tell whether you took part?" in capsys.readouterr().out
    with Image.open("attack.png") as picture:
        assert picture.width == 1520
    assert json.loads(Path("attack.json").read_text())["failed"] is False
    assert run(["audit", "--attack", "june.dph.parquet", "june.dph.parquet", "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["promise"] == "epsilon = 2"


def test_the_command_ends_with_1_if_it_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain("paper", depth=1).save(tmp_path / "june.dph.parquet")
    monkeypatch.setattr(membership, "attack", lambda *given, **more: invented_attack(exceeding=True))
    assert run(["audit", "--attack", str(tmp_path / "june.dph.parquet")]) == 1
    assert "FAILED" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--attack"], "needs a release"),
        (["june.dph.parquet"], "goes with --attack"),
        (["--colours", "dark"], "goes with --attack"),
        (["--attack", "june.dph.parquet", "--epsilon", "1"], "takes the epsilon from the release"),
        (["--attack", "june.dph.parquet", "--design", "paper"], "takes the design from the release"),
        (["--attack", "june.dph.parquet", "-o", "attack.html"], "must end in"),
        (["--attack", "june.dph.parquet", "--colours", "blue"], "colours"),
    ],
)
def test_what_does_not_go_together_is_refused(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["audit", *given]) == 2
    assert said in capsys.readouterr().err
