"""Releases of servers that asked questions: their files, the checks when they are read, and the posterior."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.simulate import simulate
from dpheatmap.design.privacy_loss import SummedLoss
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS, in_whole_units
from dpheatmap.errors import ReleaseFileError
from dpheatmap.estimate.posterior.map_estimate import strength_of
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release
from dpheatmap.releases.release_file import describe
from dpheatmap.testing import SeededSource
from helpers import ROOT
from helpers.stored import metadata_of, write_again

PLACES = {
    "unit": dph.Domain.unit(6),
    "image": dph.Domain.image(50, 20),
    "box": dph.Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12),
}


def served(place: str = "unit", seed: int = 1, units: int | None = None, servers: int = 2) -> Release:
    """Three quarters of 200 people are in one spot."""
    domain, rng = PLACES[place], np.random.default_rng(seed)
    e = domain.extent
    terms = ServerTerms.of(domain, epsilon=4, n_min=50, n_max=200, units=units, servers=servers)
    x, y = np.where(rng.random(200) < 0.75, 0.3, rng.random((2, 200)))
    people = [([e.x0 + a * (e.x1 - e.x0)], [e.y0 + b * (e.y1 - e.y0)]) for a, b in zip(x, y, strict=True)]
    return simulate(terms, people, SeededSource(seed))


@pytest.mark.parametrize("units", [None, 4, 7, UNITS])
@pytest.mark.parametrize("place", PLACES)
def test_what_was_saved_is_read_back(place: str, units: int | None, tmp_path: Path) -> None:
    before = served(place, units=units)
    before.save(tmp_path / "r.parquet")
    after = dph.load(tmp_path / "r.parquet")
    for field in ("domain", "epsilon", "design", "delta", "loss", "units", "trust", "noise", "made"):
        assert getattr(after, field) == getattr(before, field), field
    for field in ("levels", "codes", "counts", "shares"):
        assert np.array_equal(getattr(after.measurements, field), getattr(before.measurements, field)), field
    assert metadata_of(tmp_path / "r.parquet")["format"] == 5
    assert "One of 2 servers" in after.label["trusted"]


def test_every_key_is_documented() -> None:
    page = (ROOT / "docs/reference/release-format.md").read_text()
    release = served()
    for key in [*describe(release), *release.columns(), *describe(release)["noise"]]:
        assert f"`{key}`" in page, key


LIES: dict[str, Any] = {
    "one server": lambda m: m["noise"].update(summed=1),
    "more servers": lambda m: m["noise"].update(summed=16),
    "half a server": lambda m: m["noise"].update(summed="5/2"),
    "a curator's": lambda m: m.update(format=1),
    "a shuffler's": lambda m: m.update(trusted="shuffler"),
    "nobody's": lambda m: m.update(trusted="nobody"),
    "other units": lambda m: m.update(units_per_person=150),
    "no units": lambda m: m.update(units_per_person=0),
    "with delta": lambda m: m.update(delta="1/100"),
    "more epsilon": lambda m: m.update(epsilon="40"),
    "another design": lambda m: m.update(design="ladder"),
    "from the future": lambda m: m.update(format=6),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_file_that_lies_about_its_mechanism_is_refused(lie: Any, tmp_path: Path) -> None:
    """Other units, servers or another epsilon show where they lead to other questions, as they do here."""
    served().save(tmp_path / "r.parquet")
    metadata = metadata_of(tmp_path / "r.parquet")
    lie(metadata)
    write_again(tmp_path / "r.parquet", pq.read_table(tmp_path / "r.parquet"), metadata)
    with pytest.raises(ReleaseFileError):
        dph.load(tmp_path / "r.parquet")


def test_paths_are_checked_when_a_file_is_read(tmp_path: Path) -> None:
    """A cell more or less, a larger share, or a count that leads elsewhere."""
    release = served()
    m = release.measurements
    every = np.arange(len(m))

    def with_rows(rows: Any) -> Release:
        return replace(
            release, measurements=Measurements(m.levels[rows], m.codes[rows], m.counts[rows], m.shares[rows])
        )

    busiest = int(np.argmax(np.where(m.levels == m.levels[1], m.counts, -1)))
    counts, shares = m.counts.copy(), m.shares.copy()
    counts[busiest] = 0
    shares[-1] *= 2
    changed = [replace(release, measurements=replace(m, **new)) for new in ({"counts": counts}, {"shares": shares})]
    broken = [with_rows(every[:-1]), with_rows(np.append(every, every[-1:])), *changed]
    for altered in broken:
        altered.save(tmp_path / "r.parquet")
        with pytest.raises(ReleaseFileError, match="damaged or was altered"):
            dph.load(tmp_path / "r.parquet")


# The posterior


def test_the_posterior_reads_every_answer_with_the_noise_of_all_servers() -> None:
    one, three = served(), served(servers=3)
    observed = Observations.of(one)
    assert len(observed.levels) == len(one.measurements)
    assert observed.scales == pytest.approx(SHARES / (4.0 * one.measurements.shares))
    assert len(observed.law) == 2
    assert len(Observations.of(three).law) == 3
    assert strength_of(one) == pytest.approx(4 / np.sqrt(2))
    assert strength_of(three) == pytest.approx(4 / np.sqrt(3))


@pytest.mark.parametrize("units", [None, 4, UNITS])
def test_the_spot_is_found_and_told_with_its_uncertainty(units: int | None) -> None:
    heat = served(units=units).heatmap(size=16, sigma=0.02)
    assert divmod(int(heat.values.argmax()), 16) == (4, 4)
    assert heat.values.max() > 0.3
    assert heat.std is not None
    assert (heat.std > 0).all()


def test_the_total_has_the_spread_that_is_told() -> None:
    """20 fixed seeds; of 90 % intervals that were right, fewer than 9 would hold with a probability below 1e-6."""
    told = [served(seed=seed).people for seed in range(20)]
    assert sum(low <= 200 <= high for low, high in (people.interval(0.9) for people in told)) >= 9
    assert np.std([people.mean for people in told]) < 3 * np.mean([people.std for people in told])


# Decisions


def test_decisions_know_the_noise_of_all_servers() -> None:
    assert SummedLoss(Fraction(3), servers=1).strength(SHARES) == 3
    for servers in (2, 3, 16):
        strength = SummedLoss(Fraction(1), servers=servers).strength(SHARES)
        assert 0 <= 1 / np.sqrt(servers) - float(strength) < 1e-9
        assert SummedLoss(Fraction(1), servers=servers).part(SHARES) == 1, "what is promised is epsilon all the same"


def test_counts_of_any_units_are_read_in_whole_ones() -> None:
    counts = np.array([15, -7, 0, FARTHEST, -FARTHEST])
    assert in_whole_units(counts, UNITS) is counts
    assert in_whole_units(counts, 15).tolist() == [UNITS, -7 * UNITS // 15, 0, FARTHEST, -FARTHEST]
    assert in_whole_units(np.array([1]), 3).tolist() == [UNITS // 3]
