"""Maps with a prior: they name the releases used, wherever a map tells how it was made, and keep their uncertainty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dpheatmap import Domain, Release, combine
from dpheatmap import release as make_release
from dpheatmap.cli.export_command import command
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.estimate.posterior.public_measure import raster_of
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.formats.metadata import facts
from dpheatmap.testing import generated_people


def released(epsilon: str = "1", seed: int = 1) -> Release:
    """A release with noise that is not seeded, since a seeded one is no prior."""
    people = generated_people(400, seed=seed)
    return make_release(people, Domain.unit(6), epsilon=epsilon, user="person", x="x", y="y")


def test_a_map_names_the_releases_used() -> None:
    heat = released().heatmap(prior=(earlier := released("0.25", 2)))
    assert heat.priors == (earlier,)
    told = facts(heat)["priors"], " ".join(picture_of(heat).words.facts), picture_of(heat).label["priors"]
    assert all("rior: a release with epsilon = 0.25" in words for words in told)
    again = released("2", 3).heatmap(prior=heat)
    assert [float(each.epsilon) for each in again.priors] == [1.0, 0.25]


def test_several_releases_are_one_prior() -> None:
    """A list of one is that release; several are read in one likelihood, and each is named."""
    release, first, second = released(), released("0.25", 2), released("0.25", 3)
    alone, listed = (release.distribution(prior=prior) for prior in (first, [first]))
    np.testing.assert_allclose(alone.mass, listed.mass)
    assert release.heatmap(prior=[first, second]).priors == (first, second)
    pooled = combine([first, second], same=True).distribution()
    np.testing.assert_allclose(
        release.distribution(prior=[first, second]).mass, release.distribution(prior=raster_of(pooled)).mass
    )
    elsewhere = make_release(generated_people(5), Domain.unit(3), epsilon=1, user="person", x="x", y="y")
    for bad in ([], [first, "june.dph.parquet"], [first, elsewhere]):
        with pytest.raises(ParameterError, match="A list as prior holds releases of one domain"):
            release.distribution(prior=bad)
    with pytest.raises(PrivacyRefusal, match="made with a seed"):
        release.distribution(prior=[first, replace(second, seeded=True)])


def test_a_map_without_prior_names_none() -> None:
    heat = released().heatmap()
    assert heat.priors == ()
    assert "priors" not in facts(heat)


def test_uncertainty_is_that_of_the_posterior_with_the_prior() -> None:
    """Knowing the map from a hundred times the epsilon leaves less uncertainty than an even spread."""
    release, good = released(), released("100", 1)
    plain, better = release.heatmap(size=32), release.heatmap(size=32, prior=good)
    low, high = better.interval()
    assert (low <= better.values + 1e-15).all()
    assert (better.values <= high + 1e-15).all()
    assert plain.std is not None
    assert better.std is not None
    assert better.std.sum() < 0.9 * plain.std.sum()


def test_other_methods_take_no_prior() -> None:
    people = generated_people(100)
    paper = make_release(people, Domain.unit(5), epsilon=1, user="person", x="x", y="y", design="paper")
    with pytest.raises(ParameterError, match="Only the method 'posterior' takes a prior"):
        paper.heatmap(method="paper", prior=np.ones((4, 4)))


def test_export_takes_a_prior(tmp_path: Path) -> None:
    released().save(tmp_path / "june.dph.parquet")
    released("0.25", 2).save(tmp_path / "may.dph.parquet")
    files = [str(tmp_path / name) for name in ("june.dph.parquet", "may.dph.parquet", "map.csv")]
    done = CliRunner().invoke(command, [files[0], "--prior", files[1], "-o", files[2]])
    assert done.exit_code == 0, done.output
    assert Path(files[2]).exists()
    refused = CliRunner().invoke(command, [files[0], "--minus", files[1], "--prior", files[1], "-o", "map.png"])
    assert isinstance(refused.exception, ParameterError)
