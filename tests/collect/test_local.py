"""The local model: what a device tells, what the collector makes of it, and that nobody's data is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.collect.local import LocalTerms, Report, report
from dpheatmap.collect.randomised_response import NOTHING
from dpheatmap.collect.simulate import simulate_locally
from dpheatmap.collect.tally import Tally
from dpheatmap.design.shares import SHARES
from dpheatmap.errors import DataError, DomainError, ParameterError
from dpheatmap.place.quadtree import encode
from dpheatmap.testing import SeededSource

TERMS = LocalTerms.of(dph.Domain.unit(4), epsilon=2)
PLACES = {"unit": dph.Domain.unit(7), "image": dph.Domain.image(320, 240), "city": dph.Domain.bbox(7, 50, 8, 51)}


@pytest.mark.parametrize("domain", PLACES.values(), ids=PLACES.keys())
def test_levels_are_drawn_by_the_specified_probabilities(domain: dph.Domain) -> None:
    shares = LocalTerms.of(domain, epsilon=1).design.shares
    assert sum(shares.values()) == SHARES
    wanted = {k: (2.0**-k * min(domain.cells(k).count, 80)) ** (2 / 3) for k in shares}
    for level, share in shares.items():
        assert share / SHARES == pytest.approx(wanted[level] / sum(wanted.values()), rel=1e-6)
    levels = LocalTerms.of(domain, epsilon=1).drawn_levels(100_000, SeededSource(1))
    for level, share in shares.items():
        part = share / SHARES
        assert abs((levels == level).mean() - part) < 6 * np.sqrt(part / 100_000)


def test_the_level_does_not_depend_on_the_data() -> None:
    """Planted: a device that answers for a deeper level where more people are would tell by its choice."""
    for seed in range(50):
        data: list[list[float]] = [[0.1], [0.1, 0.9, 0.9], [], [7.0]]
        reports = [report(TERMS, x, x, SeededSource(seed)) for x in data]
        assert len({one.level for one in reports}) == 1
        assert len({len(one.answer) for one in reports}) == 1


def test_reports_add_up_to_where_people_are() -> None:
    """2000 real reports at epsilon 4, most of them from one corner; every cell within 6 deviations."""
    terms = LocalTerms.of(dph.Domain.unit(4), epsilon=4)
    tally = Tally(terms)
    for k in range(2000):
        points: list[float] = [0.05, 0.05, 9.0] if k % 4 else []
        sent = report(terms, points, points, SeededSource(k)).to_bytes()
        tally.add(Report.from_bytes(sent))
    release = tally.release()
    m = release.measurements
    assert m.deviations is not None
    truth = np.where(m.codes == 0, 1500, 0)
    assert np.all(np.abs(m.counts / release.units - truth) < 6 * m.deviations / release.units)
    assert release.trust.participants == 2000
    assert release.heatmap(size=16, sigma=0.01).values[0, 0] > 0.6


def test_one_of_a_persons_points_is_told_and_all_are_as_likely() -> None:
    terms = LocalTerms.of(dph.Domain.unit(2), epsilon=50)
    tally = Tally(terms)
    for k in range(1200):
        tally.add(report(terms, [0.1, 0.1, 0.9, 5.0], [0.1, 0.1, 0.9, 5.0], SeededSource(k)))
    counts = tally.release().measurements.counts / 2**30
    assert abs(counts[0] - 800) < 6 * np.sqrt(1200 * 2 / 9)
    assert abs(counts[15] - 400) < 6 * np.sqrt(1200 * 2 / 9)


def test_the_simulation_knows_its_deviations() -> None:
    """10^6 people at once: of some thousand cells, the mean square of the error in deviations is 1 within 6 errors."""
    terms, rng = LocalTerms.of(PLACES["unit"], epsilon=1, depth=7), np.random.default_rng(5)
    at = np.minimum(rng.geometric(0.05, (2, 10**6)) - 1, 127)
    finest = encode(at[0], at[1])
    finest[: 10**5] = NOTHING
    release = simulate_locally(terms, finest, rng)
    m = release.measurements
    assert m.deviations is not None
    truth = np.zeros(len(m))
    for level in terms.cells:
        codes = finest[10**5 :] >> 2 * (7 - level)
        truth[m.levels == level] = np.bincount(
            np.searchsorted(terms.cells[level], codes), minlength=len(terms.cells[level])
        )
    z = (m.counts / release.units - truth) / (m.deviations / release.units)
    for level in (5, 6, 7):
        here = m.levels == level
        assert abs(np.mean(z[here] ** 2) - 1) < 6 * np.sqrt(2 / here.sum()), level


def test_nobody_is_refused(tmp_path: Path) -> None:
    """One report, nobody inside, a level without reports: a release like any other, that can be saved and drawn."""
    for people in (1, 5):
        tally = Tally(TERMS)
        for _ in range(people):
            tally.add(report(TERMS, [], []))
        release = tally.release()
        release.save(tmp_path / "r.parquet")
        assert dph.load(tmp_path / "r.parquet").trust.participants == people
        assert np.isfinite(release.heatmap(size=8).values).all()


def test_few_reports_of_many_cells_are_read_back(tmp_path: Path) -> None:
    """Two reports leave nearly all of 87,376 cells at one value: the file has far fewer bytes than rows."""
    terms = LocalTerms.of(dph.Domain.unit(8), epsilon=4, depth=8)
    tally = Tally(terms)
    for seed in range(2):
        tally.add(report(terms, [0.3], [0.3], SeededSource(seed)))
    release = tally.release()
    release.save(tmp_path / "r.parquet")
    assert (tmp_path / "r.parquet").stat().st_size < len(release.measurements)
    assert np.array_equal(dph.load(tmp_path / "r.parquet").measurements.counts, release.measurements.counts)


def test_a_tally_refuses_what_is_no_report_and_goes_on() -> None:
    tally = Tally(TERMS)
    good = report(TERMS, [0.5], [0.5])
    tally.add(good)
    for sent in (b"", b"\x09\x00", b"\xff" * 600, good.to_bytes()[:-1], good.to_bytes() + b"!"):
        with pytest.raises(DataError):
            tally.add(Report.from_bytes(sent))
    assert tally.participants == 1
    tally.release()


def test_an_empty_tally_is_not_released() -> None:
    with pytest.raises(ParameterError, match="one report at least"):
        Tally(TERMS).release()


def test_terms_are_read_back() -> None:
    for domain in PLACES.values():
        terms = LocalTerms.of(domain, epsilon="1/3", width=30, depth=6)
        again = LocalTerms.from_dict(terms.to_dict())
        assert again == terms
        assert again.answer_bytes == terms.answer_bytes


def test_terms_tell_the_response_of_each_level() -> None:
    told = {epsilon: LocalTerms.of(dph.Domain.unit(8), epsilon=epsilon, depth=8).to_dict() for epsilon in (1, 2, 5)}
    names = {epsilon: [level["response"] for level in terms["levels"]] for epsilon, terms in told.items()}
    assert names[1] == ["unary"] * 5 + ["hadamard"] * 2
    assert names[2] == ["direct"] + ["unary"] * 4 + ["hadamard"] * 2
    assert names[5] == ["direct"] * 3 + ["unary"] * 2 + ["hadamard"] * 2


def test_points_must_come_in_pairs() -> None:
    with pytest.raises(ParameterError, match="two lists of numbers, equally long"):
        report(TERMS, [0.1], [0.1, 0.2])


def test_a_smaller_depth_is_the_same_place() -> None:
    """Of 16 x 16 cells only the levels to 8 x 8: a corner is still that corner, by reports and by simulation."""
    terms = LocalTerms.of(dph.Domain.unit(4), epsilon=50, depth=3)
    tally = Tally(terms)
    for seed in range(200):
        tally.add(report(terms, [0.99], [0.99], SeededSource(seed)))
    drawn = simulate_locally(terms, np.full(200, 255), np.random.default_rng(1))
    for release in (tally.release(), drawn):
        codes, counts = release.measurements.at(3)
        assert codes[np.argmax(counts)] == 63


def test_the_depth_follows_from_public_numbers() -> None:
    """At epsilon 2 the variance of a report is 0.724, so the signals are 138, 1380, ..; 8^depth is below."""
    domain, numbers = dph.Domain.unit(9), [10**2, 10**3, 10**4, 10**5, 10**6]
    depths = [LocalTerms.of(domain, epsilon=2, n_max=number).design.last for number in numbers]
    assert depths == [3, 3, 4, 5, 6]
    assert LocalTerms.of(domain, epsilon=2, n_max=100, depth=7).design.last == 7
    assert LocalTerms.of(dph.Domain.unit(2), epsilon=2).design.last == 2
    assert LocalTerms.from_dict(LocalTerms.of(domain, epsilon=2, n_max=1000).to_dict()).design.last == 3


def test_bad_terms_are_refused() -> None:
    unit = dph.Domain.unit(4)
    for epsilon in (0, -1, "x", 1e-3, 51):
        with pytest.raises(ParameterError):
            LocalTerms.of(unit, epsilon=epsilon)
    with pytest.raises(ParameterError, match="Use a smaller depth"):
        LocalTerms.of(dph.Domain.unit(20), epsilon=1, depth=20)
    with pytest.raises(ParameterError, match="width must be"):
        LocalTerms.of(unit, epsilon=1, width=0)
    with pytest.raises(ParameterError, match="depth must be"):
        LocalTerms.of(unit, epsilon=1, depth=-1)
    with pytest.raises(DomainError):
        LocalTerms.of("here", epsilon=1)  # type: ignore[arg-type]
    assert LocalTerms.of(unit, epsilon=Fraction(1, 3)).epsilon == Fraction(1, 3)
