"""Releases with Gaussian noise: paths spend at most rho, each share has its variance, and files say which promise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.gaussian import gaussian_measure
from dpheatmap.curator.gaussian.discrete_gaussian import DiscreteGaussian, discrete_gaussian
from dpheatmap.curator.gaussian.gaussian_measure import measure_with_gaussian
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss, from_dict, loss_of, read_loss, to_dict
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.errors import ParameterError, ReleaseFileError
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import DISCRETE_GAUSSIAN
from dpheatmap.render.formats.metadata import facts
from dpheatmap.testing import SeededSource, generated_people, seeded_release

DOMAIN = Domain.unit(6)
LOSS = ConcentratedLoss(Fraction(1, 50))
OPTIONS: dict[str, Any] = {"user": "person", "x": "x", "y": "y", "noise": "gaussian", "rho": "0.02"}


def people() -> Counts:
    return dph.aggregate(generated_people(3000), DOMAIN, user="person", x="x", y="y")


def residuals(counts: Counts, found: Measurements, loss: ConcentratedLoss) -> list[float]:
    """What noise was added to each count, in standard deviations of its share."""
    told = []
    for level, code, noisy, share in zip(found.levels, found.codes, found.counts, found.shares, strict=True):
        true = int(counts.exact(int(level), np.array([code]))[0])
        told.append((int(noisy) - true) / math.sqrt(UNITS**2 / (2 * loss.part(int(share)))))
    return told


def noise_is_as_stated(values: list[float]) -> bool:
    """Whether the sum of squares is that of normal variables, within six standard deviations: 2e-9 are not."""
    return abs(sum(v**2 for v in values) - len(values)) < 6 * math.sqrt(2 * len(values))


def test_each_count_has_the_noise_of_its_share_and_no_path_spends_more_than_rho() -> None:
    counts = people()
    found = measure_with_gaussian(counts, LOSS, AdaptiveDesign(2, 6), SeededSource(5))
    assert len(found) > 100
    assert noise_is_as_stated(residuals(counts, found, LOSS))
    spent = np.zeros(4**6, np.int64)
    for level, code, share in zip(found.levels, found.codes, found.shares, strict=True):
        spent[code << 2 * (6 - level) : (code + 1) << 2 * (6 - level)] += share
    assert spent.max() == spent.min() == SHARES


def test_half_the_noise_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_measure, "discrete_gaussian", lambda variance: discrete_gaussian(variance / 2))
    counts = people()
    found = measure_with_gaussian(counts, LOSS, AdaptiveDesign(2, 6), SeededSource(5))
    assert not noise_is_as_stated(residuals(counts, found, LOSS))


def test_a_ladder_is_refused_whoever_asks_for_it() -> None:
    """Its looks are free only where every ratio is bounded."""
    with pytest.raises(TypeError, match="neither asks questions"):
        measure_with_gaussian(people(), LOSS, LadderDesign(2, 6))


def test_a_release_is_adaptive_and_its_file_says_which_promise(tmp_path: Path) -> None:
    made = dph.release(generated_people(500), DOMAIN, **OPTIONS)
    assert made.design.name == "adaptive"
    assert made.noise == DISCRETE_GAUSSIAN
    assert made.loss == LOSS
    assert made.label["how_strongly"].startswith(
        "Zero-concentrated differential privacy with rho = 0.02, which is diff"
    )
    made.save(tmp_path / "g.dph.parquet")
    read = dph.load(tmp_path / "g.dph.parquet")
    assert (read.loss, read.noise, read.delta) == (LOSS, DISCRETE_GAUSSIAN, Fraction(1, 10**6))
    assert np.array_equal(read.measurements.counts, made.measurements.counts)
    metadata = metadata_of(tmp_path / "g.dph.parquet")
    assert (metadata["format"], metadata["rho"], metadata["noise"]["family"]) == (4, "1/50", "discrete Gaussian")
    assert Fraction(metadata["epsilon"]) == made.epsilon
    assert metadata["neighbours"].endswith("costs twice rho")


def test_maps_tell_rho_beside_the_epsilon_that_it_gives() -> None:
    """Whoever adds up what maps cost adds their rho: the sum of their epsilons would be far too much."""
    heat = dph.release(generated_people(500), DOMAIN, **OPTIONS).heatmap(size=16)
    told = facts(heat)
    assert (told["rho"], told["epsilon"]) == ("1/50", str(heat.loss.epsilon))
    assert "rho = 0.02, epsilon = 0.899936, delta = 0.000001 per person" in told["privacy"]
    pure = facts(dph.release(generated_people(9), DOMAIN, epsilon=1, user="person", x="x", y="y").heatmap(size=16))
    assert "rho" not in {*pure, *pure["privacy"].split()}


def test_gaussian_noise_is_drawn_after_it_was_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", rho="1/50")
    exact, spent = DiscreteGaussian.exact, list[Fraction]()

    def watching(self: DiscreteGaussian, *of: Any) -> Any:
        spent.append(ledger.accounts()["riders"].spent)
        return exact(self, *of)

    monkeypatch.setattr(DiscreteGaussian, "exact", watching)
    dph.release(generated_people(9), DOMAIN, **OPTIONS, ledger=ledger, population="riders")
    assert set(spent) == {Fraction(1, 50)}


def metadata_of(path: Path) -> dict[str, Any]:
    sql = "SELECT value FROM parquet_kv_metadata(?) WHERE decode(key) = 'dpheatmap'"
    (value,) = duckdb.execute(sql, [str(path)]).fetchone() or (b"{}",)
    found: dict[str, Any] = json.loads(value)
    return found


def rewrite(path: Path, metadata: dict[str, Any]) -> None:
    text = json.dumps(metadata).replace("'", "''")
    other = path.with_name("other.parquet")
    duckdb.execute(
        f"COPY (FROM read_parquet('{path}')) TO '{other}' (FORMAT parquet, KV_METADATA {{dpheatmap: '{text}'}})"
    )
    other.replace(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(epsilon="1/10"),
        lambda m: m.update(rho="1/5000"),
        lambda m: m.update(format=1),
        lambda m: m.pop("rho"),
        lambda m: m.update(delta="0"),
        lambda m: m["noise"].update(family="discrete Laplace"),
        lambda m: m.update(trusted="nobody"),
        lambda m: m.update(rho="-1"),
        lambda m: m.update(rho="1e-50"),
        lambda m: m.update(rho="1e-300"),
    ],
)
def test_a_file_that_claims_another_promise_is_refused(tmp_path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = tmp_path / "g.dph.parquet"
    seeded_release(generated_people(500), DOMAIN, seed=1, **OPTIONS).save(path)
    metadata = metadata_of(path)
    change(metadata)
    rewrite(path, metadata)
    with pytest.raises(ReleaseFileError, match=r"damaged|altered|cut short"):
        dph.load(path)


def test_the_posterior_reads_the_deviation_of_each_share() -> None:
    made = seeded_release(people(), seed=3, noise="gaussian", rho="0.02")
    seen = Observations.every(made)
    assert len(seen.law) == 0  # a Gaussian
    part = made.measurements.shares[0] / SHARES * 0.02
    assert seen.scales[0] == pytest.approx(1 / math.sqrt(2 * part))
    assert made.people.mean == pytest.approx(3000, abs=6 * made.people.std)


def test_gaussian_noise_as_strong_as_laplace_noise_gives_a_better_map() -> None:
    """Parts of rho buy the square root of themselves: 16 draws each, and far apart."""
    counts, errors = people(), {}
    true = dph.release(counts, epsilon=10**5).heatmap(sigma=0.05, size=64).values
    ways: dict[str, dict[str, Any]] = {"laplace": {"epsilon": "0.1"}, "gaussian": {"noise": "gaussian", "rho": "1/400"}}
    for name, options in ways.items():
        drawn = [seeded_release(counts, seed=seed, **options).heatmap(sigma=0.05, size=64).values for seed in range(16)]
        errors[name] = np.mean([dph.metrics.emd(true, one, tolerance=0.01).middle for one in drawn])
    assert errors["gaussian"] < errors["laplace"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": "gaussian", "epsilon": 1}, "For that epsilon at a delta of 0.000001, give rho 0.0243559"),
        ({"noise": "gaussian"}, "rho must be a number above 0"),
        ({"noise": "gaussian", "rho": 1, "delta": 0}, "delta must be above 0"),
        ({"epsilon": 1, "rho": 1}, "the noise is Laplace"),
        ({"epsilon": 1, "delta": "1e-6"}, "the noise is Laplace"),
        ({"noise": "gaussian", "rho": 1, "design": "paper"}, "goes with the design 'adaptive'"),
        ({"noise": "gaussian", "rho": 1, "users": 5}, "users is for the design 'dense'"),
        ({"noise": "gaussian", "rho": 1, "group": "mode", "groups": ["a"]}, "Slices have Laplace noise"),
        ({"noise": "gaussian", "rho": "1e-80"}, "rho must be from 1e-15 to 100000"),
        ({"noise": "gaussian", "rho": 10**6}, "rho must be from 1e-15 to 100000"),
        ({"noise": "gaussian", "rho": 1, "delta": "1e-101"}, "delta at least 1e-100"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        dph.release(generated_people(5), DOMAIN, user="person", x="x", y="y", **options)


def test_losses_add_up() -> None:
    one, other = ConcentratedLoss(Fraction(1, 50)), ConcentratedLoss(Fraction(1, 25), Fraction(1, 10**5))
    assert one + other == ConcentratedLoss(Fraction(3, 50), Fraction(1, 10**5))
    assert one + PureLoss(Fraction(1, 2)) == PureLoss(Fraction(1, 2)) + one == ConcentratedLoss(Fraction(29, 200))
    shuffled = loss_of(Fraction(1), Fraction(1, 10**6))
    assert one + shuffled == shuffled + one == loss_of(1 + one.epsilon, Fraction(2, 10**6))
    assert from_dict(to_dict(one)) == one
    assert read_loss(None, "gaussian", "0.02", None) == one
    assert one.strength(SHARES) ** 2 == pytest.approx(4 * one.rho)
    assert one.strength(SHARES) ** 2 <= 4 * one.rho
