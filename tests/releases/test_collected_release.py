"""Releases without a curator: their label, their file, the law of their noise, and both reconstructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.curator.core.noise import DiscreteLaplace
from dpheatmap.curator.core.walk import walk
from dpheatmap.design.design import Question
from dpheatmap.design.paper import PaperDesign, all_at_once
from dpheatmap.design.privacy_loss import PureLoss, loss_of
from dpheatmap.design.shares import SHARES
from dpheatmap.errors import ReleaseFileError
from dpheatmap.estimate.posterior.likelihood import laplace_sum, law_of
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.posterior import infer, posterior
from dpheatmap.estimate.posterior.pruning import WORTH, measurements_to_read
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import (
    LAPLACE,
    GaussianNoise,
    LaplaceNoise,
    NoiseLaw,
    fits,
    least_devices,
    shuffled_noise,
)
from dpheatmap.releases.release import Release
from dpheatmap.releases.release_file import describe
from dpheatmap.releases.trust import CURATOR, Trust
from dpheatmap.testing import SeededSource
from helpers import ROOT
from helpers.stored import metadata_of, write_again

EPSILON = Fraction(5)
DELTA = Fraction(1, 10**5)
UNIT = dph.Domain.unit(4)
MODELS: dict[str, tuple[Trust, NoiseLaw]] = {
    "shuffler": (Trust("shuffler", 60), shuffled_noise(60, 50)),
    "servers": (Trust("servers", 200), LaplaceNoise(Fraction(2))),
    "nobody": (Trust("nobody", 1000), GaussianNoise()),
}


def collected(model: str, domain: dph.Domain = UNIT, *, people: float = 200.0, seed: int = 1) -> Release:
    """Most people in one corner, noise of the model's law, at once on all levels."""
    (trust, noise), design, rng = MODELS[model], all_at_once(domain, width=20), SeededSource(seed)
    levels, _ = design.coordinates(domain)
    units = 256 if model == "shuffler" else 2**30
    first = np.concatenate([np.arange(np.sum(levels == level)) == 0 for level in np.unique(levels)])
    counts = np.where(first, int(people * units), 0)
    deviations = None
    if model == "nobody":
        deviations = np.full(len(levels), 3 * units)
        drawn = np.random.default_rng(seed).normal(0.0, 3.0, len(levels)) * units
        counts = counts + drawn.astype(np.int64)
    else:
        for level, share in design.shares.items():
            here = levels == level
            law = DiscreteLaplace(EPSILON * share / SHARES / units)
            for _ in range(int(noise.summed)):
                counts[here] += law.sample(int(here.sum()), rng)
    delta = DELTA if model == "shuffler" else Fraction(0)
    return Release.collected(
        domain, design, counts, loss=loss_of(EPSILON, delta), trust=trust, noise=noise, units=units,
        deviations=deviations, seeded=True,
    )  # fmt: skip


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Files


@pytest.mark.parametrize("domain", [UNIT, dph.Domain.image(50, 20), dph.Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12)])
def test_what_was_saved_is_read_back(model: str, domain: dph.Domain, tmp_path: Path) -> None:
    before = collected(model, domain)
    before.save(tmp_path / "r.parquet")
    after = dph.load(tmp_path / "r.parquet")
    for field in ("domain", "epsilon", "design", "delta", "loss", "units", "trust", "noise", "made"):
        assert getattr(after, field) == getattr(before, field), field
    for field in ("levels", "codes", "counts", "shares", "deviations"):
        assert np.array_equal(getattr(after.measurements, field), getattr(before.measurements, field)), field
    assert dict(after.label) == dict(before.label)
    assert metadata_of(tmp_path / "r.parquet")["format"] == 2


def test_every_key_is_documented(model: str) -> None:
    page = (ROOT / "docs/reference/release-format.md").read_text()
    release = collected(model)
    for key in [*describe(release), *release.columns(), *describe(release)["noise"]]:
        assert f"`{key}`" in page, key


def test_files_from_before_trust_was_written_down_are_read(tmp_path: Path) -> None:
    from dpheatmap.testing import generated_people

    made = dph.release(generated_people(20), UNIT, epsilon=1, user="person", x="x", y="y")
    made.save(tmp_path / "r.parquet")
    metadata = metadata_of(tmp_path / "r.parquet")
    assert metadata["format"] == 1
    del metadata["trusted"], metadata["participants"], metadata["label"]["trusted"]
    write_again(tmp_path / "old.parquet", pq.read_table(tmp_path / "r.parquet"), metadata)
    old = dph.load(tmp_path / "old.parquet")
    assert (old.trust, old.noise) == (CURATOR, LAPLACE)
    assert np.array_equal(old.measurements.counts, made.measurements.counts)


LIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a curator's": lambda m: m.update(format=1),
    "another model": lambda m: m.update(trusted="curator" if m["trusted"] == "nobody" else "nobody"),
    "no such model": lambda m: m.update(trusted="god"),
    "not at once": lambda m: m.pop("at_once"),
    "too little noise": lambda m: m["noise"].update(summed="1/2"),
    "no participants": lambda m: m.update(participants=None),
    "a broken number": lambda m: m.update(participants=7.5),
    "negative delta": lambda m: m.update(delta="-1/2"),
    "certain to fail": lambda m: m.update(delta="1"),
    "too many units": lambda m: m.update(units_per_person=2**40),
    "no units": lambda m: m.update(units_per_person=0),
    "deeper": lambda m: (
        m["domain"].update(depth=28),
        m.update(levels=[{"level": k, "share": SHARES // 2} for k in (27, 28)]),
    ),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_file_that_lies_about_its_mechanism_is_refused(
    model: str, lie: Callable[[dict[str, Any]], Any], tmp_path: Path
) -> None:
    collected(model).save(tmp_path / "r.parquet")
    metadata = metadata_of(tmp_path / "r.parquet")
    lie(metadata)
    write_again(tmp_path / "r.parquet", pq.read_table(tmp_path / "r.parquet"), metadata)
    with pytest.raises(ReleaseFileError):
        dph.load(tmp_path / "r.parquet")


def test_a_missing_or_repeated_cell_and_impossible_noise_are_found_out(model: str, tmp_path: Path) -> None:
    release = collected(model)
    m = release.measurements

    def with_rows(rows: Ints) -> Release:
        spread = None if m.deviations is None else m.deviations[rows]
        kept = Measurements(m.levels[rows], m.codes[rows], m.counts[rows], m.shares[rows], spread)
        return replace(release, measurements=kept)

    everything = np.arange(len(m))
    broken = [with_rows(everything[:-1]), with_rows(np.append(everything[:-1], len(m) - 2)), with_rows(everything[20:])]
    if m.deviations is not None:
        broken.append(replace(release, measurements=replace(m, deviations=0 * m.deviations)))
    for altered in broken:
        altered.save(tmp_path / "r.parquet")
        with pytest.raises(ReleaseFileError, match="damaged or was altered"):
            dph.load(tmp_path / "r.parquet")


@pytest.mark.parametrize(
    ("trusted", "summed", "participants"),
    [("curator", 1, 5), ("curator", 2, None), ("servers", 1, 5), ("servers", Fraction(5, 2), 5), ("nobody", 2, 5),
     ("shuffler", Fraction(1, 2), 5), ("shuffler", 1, None), ("shuffler", 1, 0), ("somebody", 1, 5)],
)  # fmt: skip
def test_what_is_no_trust_model_is_refused(trusted: str, summed: Fraction, participants: int | None) -> None:
    kind = GaussianNoise if trusted == "nobody" else LaplaceNoise
    try:
        fitting = fits(Trust(trusted, participants), kind(Fraction(summed)))
    except ValueError:
        fitting = False
    assert not fitting


def test_every_trust_model_has_its_noise_and_no_other() -> None:
    for trust, noise in MODELS.values():
        assert fits(trust, noise)
    assert fits(CURATOR, LAPLACE)
    assert not fits(CURATOR, GaussianNoise())
    assert not fits(Trust("nobody", 5), LAPLACE)
    assert least_devices(*MODELS["shuffler"]) == 50


# The promise in words


def test_the_label_says_what_is_promised_and_who_was_trusted() -> None:
    labels = {name: collected(name).label for name in MODELS}
    assert "epsilon = 5 and delta = 0.00001" in labels["shuffler"]["how_strongly"]
    assert "at least 50 of the devices" in labels["shuffler"]["trusted"]
    assert "60 devices" in labels["shuffler"]["trusted"]
    assert "One of 2 servers" in labels["servers"]["trusted"]
    assert labels["nobody"]["trusted"].startswith("Nobody")
    assert "Replacing" not in labels["nobody"]["how_strongly"]
    for label in labels.values():
        assert "took part is not hidden" in label["not_promised"]
        assert "whether a person's data was used at all" not in label["from_what"]
    for name in ("servers", "nobody"):
        assert labels[name]["how_strongly"].startswith("Pure")
        assert "delta" not in labels[name]["how_strongly"]


def test_maps_show_delta_and_trust(tmp_path: Path) -> None:
    heat = collected("shuffler").heatmap(size=16)
    heat.save(tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert "Differential privacy with epsilon = 5 and delta = 0.00001" in page
    assert "Trusted: a shuffler." in page
    assert "Who had to be trusted" in page
    assert "delta=1/100000" in repr(heat)
    heat.save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as stored:
        assert (str(stored["delta"]), str(stored["trusted"])) == ("1/100000", "shuffler")
    change = dph.difference(collected("nobody").heatmap(size=16), heat)
    change.save(tmp_path / "d.html")
    page = (tmp_path / "d.html").read_text()
    assert "before: A shuffler that mixes" in page
    assert "after: Nobody: each device" in page
    assert "epsilon = 10 and delta = 0.00001: leaving one person" in page


# The law of the noise


def test_laws_and_scales_are_those_of_the_noise() -> None:
    """On 4^5 empty cells of the last level: six deviations of the second moment of any of the laws."""
    for name in MODELS:
        release = collected(name, dph.Domain.unit(5), people=0)
        observed = Observations.every(release)
        last = observed.levels == 5
        scale = float(observed.scales[last][0])
        variance = scale**2 * (2 * len(observed.law) if len(observed.law) else 1)
        if name == "shuffler":  # drawn above as one Laplace, of 60 / 50
            variance /= 1.2
        found = float((observed.people[last] ** 2).mean())
        assert abs(found / variance - 1) < 6 * np.sqrt(5 / last.sum()), name
    assert law_of(MODELS["servers"][1])[0].tolist() == laplace_sum(2).tolist()
    assert len(law_of(MODELS["nobody"][1])[0]) == 0


@pytest.mark.parametrize("summed", ["1", "3/2", "2", "7", "25"])
def test_any_number_of_laplaces_keeps_its_variance(summed: str) -> None:
    law, stretch = law_of(LaplaceNoise(Fraction(summed)))
    assert 2 * len(law) * stretch**2 == pytest.approx(2 * float(Fraction(summed)))


def test_strength_is_epsilon_for_one_laplace_and_less_for_more_noise() -> None:
    one = collected("servers")
    plain = Observations.every(replace(one, trust=Trust("shuffler", 50), noise=shuffled_noise(50, 50)))
    assert plain.strength == pytest.approx(5.0)
    assert Observations.every(one).strength == pytest.approx(5.0 / np.sqrt(2))


def test_uncertainty_grows_with_the_noise() -> None:
    """Twice the deviation of every cell is about four times the variance of the total."""
    release = collected("nobody")
    m = release.measurements
    assert m.deviations is not None
    noisier = replace(release, measurements=replace(m, deviations=2 * m.deviations))
    sure, unsure = (float(posterior(r).node_variances[0]) for r in (release, noisier))
    assert 2.0 < unsure / sure < 6.0
    std = release.heatmap(size=16).std
    assert std is not None
    assert (std > 0).all()


# Which cells are read


@pytest.mark.parametrize("people", [0.0, 200.0])
def test_few_cells_are_read_and_the_map_is_that_of_all_of_them(model: str, people: float) -> None:
    release = collected(model, dph.Domain.unit(6), people=people)
    read, every = Observations.of(release), Observations.every(release)
    assert len(read.levels) < len(every.levels) / 4
    assert np.sum(read.levels == 2) == 16
    below = read.levels > 2
    for level, code in zip(read.levels[below], read.codes[below], strict=True):
        parent = (every.levels == level - 1) & (every.codes == code >> 2)
        assert every.people[parent][0] > WORTH * every.deviations[every.levels == level].mean()
    if people:
        heat, whole = (smooth(infer(o).distribution(), 0.05, 16) for o in (read, every))
        assert np.abs(heat - whole).sum() < 0.15


def test_what_is_read_depends_on_what_was_read_before_only() -> None:
    release = collected("servers", dph.Domain.unit(6))
    every = Observations.every(release)
    read = measurements_to_read(every.levels, every.codes, every.people, every.deviations)
    unread = np.setdiff1d(np.arange(len(every.levels)), read)
    changed = every.people.copy()
    changed[unread] = np.random.default_rng(1).normal(0, 1e6, len(unread))
    assert np.array_equal(read, measurements_to_read(every.levels, every.codes, changed, every.deviations))


# Both reconstructions


def test_the_corner_is_found(model: str) -> None:
    for method in ("posterior", "paper"):
        values = collected(model).heatmap(size=16, sigma=0.01, method=method).values
        assert values[0, 0] > 0.8, method


def test_the_papers_method_reads_the_cells_that_a_curator_would_have_measured() -> None:
    """The same noisy values, at once or lazily: Algorithm 2 finds the same map."""
    whole = collected("servers", dph.Domain.unit(6))
    m, design = whole.measurements, whole.design
    assert isinstance(design, PaperDesign)
    found: list[tuple[Ints, Ints, Ints, Ints]] = []

    def answer(asked: Question) -> Ints:
        noisy = m.answers(asked)
        assert noisy is not None
        size = len(noisy)
        found.append((np.full(size, asked.level), asked.cells, noisy, np.full(size, asked.share)))
        return noisy

    lazy = replace(design, at_once=False)
    walk(lazy, whole.domain, PureLoss(EPSILON), answer)
    measured = Measurements(*(np.concatenate(column) for column in zip(*found, strict=True)))
    assert len(measured) < len(m) / 4
    of_curator = replace(whole, design=lazy, measurements=measured)
    assert np.array_equal(whole.heatmap(method="paper").values, of_curator.heatmap(method="paper").values)
