from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Floats
from dpheatmap.testing import generated_people

DOMAIN = dph.Domain.image(64, 48)


@dataclass(frozen=True, eq=False)
class Known(dph.Heatmap):
    """A map whose standard deviation is what a test says it is."""

    given: Floats | None = None

    @property
    def std(self) -> Floats | None:
        return self.given


def heat(values: Floats, std: Floats | None) -> dph.Heatmap:
    made = datetime(2026, 1, 31, tzinfo=UTC)
    return Known(values, dph.Domain.unit(4), 0.1, PureLoss(Fraction(1)), made, seeded=False, uniform=False, given=std)


def change_of(values: Floats, std: Floats | None) -> Difference:
    """A difference of these values between two maps that each have this standard deviation."""
    return Difference(heat(np.zeros_like(values), std), heat(values, std))


def released(people: int, domain: dph.Domain = DOMAIN) -> dph.Release:
    table = generated_people(people, extent=domain.extent)
    return dph.release(table, domain, epsilon=2, user="person", x="x", y="y")


@pytest.fixture(scope="module")
def releases() -> tuple[dph.Release, dph.Release]:
    return released(500), released(3000)


def test_values_subtract_and_variances_add(releases: tuple[dph.Release, dph.Release]) -> None:
    a, b = (release.heatmap(sigma=3, size=32) for release in releases)
    change = dph.difference(releases[1], releases[0], sigma=3, size=32)
    assert (change.values == b.values - a.values).all()
    assert change.values.sum() == pytest.approx(0, abs=1e-12)
    assert (change.domain, change.sigma) == (DOMAIN, 3)
    assert a.std is not None
    assert b.std is not None
    assert change.std == pytest.approx(np.sqrt(a.std**2 + b.std**2))
    assert change.significant().shape == change.values.shape
    assert "32 x 24 pixels" in repr(change)
    made = Difference(heat(np.ones((1, 2)), np.array([[3.0, 0.0]])), heat(np.zeros((1, 2)), np.array([[4.0, 2.0]])))
    assert made.values.tolist() == [[-1.0, -1.0]]
    assert made.std is not None
    assert made.std.tolist() == [[5.0, 2.0]]


def test_heatmaps_do_as_well(releases: tuple[dph.Release, dph.Release]) -> None:
    a, b = (release.heatmap() for release in releases)
    change = dph.difference(b, a)
    assert (change.before, change.after) == (a, b)
    assert change.values.max() > 0 > change.values.min()


def test_one_release_twice_or_its_copy_is_refused(releases: tuple[dph.Release, dph.Release], tmp_path: Path) -> None:
    releases[0].save(tmp_path / "a.dph.parquet")
    for other in (releases[0], dph.load(tmp_path / "a.dph.parquet")):
        with pytest.raises(ParameterError, match="needs two releases, and was given one twice"):
            dph.difference(releases[0], other)


def test_other_places_sizes_and_smoothings_are_refused(releases: tuple[dph.Release, dph.Release]) -> None:
    here, there = releases[0].heatmap(), released(10, dph.Domain.image(32, 48)).heatmap()
    for other in (there, releases[1].heatmap(size=10), releases[1].heatmap(sigma=9)):
        with pytest.raises(ParameterError, match="two maps of one place, size and smoothing"):
            dph.difference(here, other)


def test_without_a_standard_deviation_nothing_is_said_to_be_noise() -> None:
    change = Difference(heat(np.zeros((2, 2)), np.ones((2, 2))), heat(np.ones((2, 2)), None))
    assert change.std is None
    with pytest.raises(ParameterError, match="only where both maps have a standard deviation"):
        change.significant()


def test_what_changed_is_told_from_noise() -> None:
    rng = np.random.default_rng(5)
    std = np.full((100, 100), 2.0)
    values = rng.normal(0, 2.0 * np.sqrt(2), size=(100, 100))
    values[:10, :10] += 40
    values[-10:, -10:] -= 40
    found = change_of(values, std).significant(confidence=0.95)
    assert found[:10, :10].all()
    assert found[-10:, -10:].all()
    # 200 true ones: about 10 of the rest pass; 40 would be far out (binomial, 1e-12).
    assert found.sum() < 240
    assert not change_of(np.zeros((4, 4)), std[:4, :4]).significant().any()


def test_certain_changes_and_certain_sameness() -> None:
    values = np.array([[0.0, 1.0], [0.0, -1.0]])
    assert (change_of(values, np.zeros((2, 2))).significant() == (values != 0)).all()


@pytest.mark.parametrize("confidence", [0, 1, -1, "x", np.nan])
def test_confidence_is_checked(confidence: float) -> None:
    with pytest.raises(ParameterError, match="confidence must be"):
        change_of(np.zeros((2, 2)), np.ones((2, 2))).significant(confidence=confidence)


def test_files(releases: tuple[dph.Release, dph.Release], tmp_path: Path) -> None:
    change = dph.difference(*releases)
    for name, start in {"d.html": b"<!doctype html>", "d.png": b"\x89PNG", "d.svg": b"<?xml", "d.pdf": b"%PDF"}.items():
        change.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ParameterError, match=r"must be one of \.html, \.png, \.svg, \.pdf"):
        change.save(tmp_path / "d.npz")
    with pytest.raises(ParameterError, match="holds a release"):
        change.save(tmp_path / "d.dph.parquet")
    assert len(list(tmp_path.iterdir())) == 4


def test_both_maps_may_be_named(releases: tuple[dph.Release, dph.Release]) -> None:
    plain = dph.difference(*releases, sigma=3, size=32)
    assert not plain.named
    assert plain.names == ("before", "after")
    named = dph.difference(*releases, sigma=3, size=32, names=("by day", "at night"))
    assert named.named
    assert named.names == ("by day", "at night")
    assert (named.values == plain.values).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda path: dph.difference(path, path), "a PurePosixPath was given. Use dpheatmap.load for files."),
        (lambda path: dph.kmedian(path, k=3), "a PurePosixPath was given. Use dpheatmap.load for files."),
        (lambda path: dph.load(5), "it was a int. Give it as text."),  # type: ignore[arg-type]
    ],
)
def test_a_path_is_no_release_and_a_number_no_path(call: Callable[[Any], object], words: str) -> None:
    with pytest.raises(ParameterError, match=f"{re.escape(words)}$"):
        call(PurePosixPath("june.dph.parquet"))


def test_a_difference_on_a_pitch_speaks_of_players_and_metres(tmp_path: Path) -> None:
    pitch = dph.Domain.image(105, 68)
    halves = [generated_people(3000, extent=(x, 0, x + 50, 68)) for x in (0, 55)]
    made = [dph.release(half, pitch, epsilon=10, user="person", x="x", y="y") for half in halves]
    change = dph.difference(*(one.heatmap(sigma=8, size=32) for one in made))
    change.save(tmp_path / "pitch.svg", background="pitch")
    change.save(tmp_path / "image.svg")
    on_pitch, on_image = ((tmp_path / name).read_text() for name in ("pitch.svg", "image.svg"))
    assert "moments" in on_pitch
    assert "10 m" in on_pitch  # the bar of its scale
    assert "looks" in on_image
