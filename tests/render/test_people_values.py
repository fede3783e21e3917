"""Maps and files in numbers of people: they add up to the estimated number, and their words say what they are."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.testing import generated_people, seeded_release

CITY = dph.Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=200)
KINDS = {"ground": CITY, "image": dph.Domain.image(640, 480), "unit": dph.Domain.unit(7)}


def heat_of(domain: dph.Domain, people: int = 4000, epsilon: float = 2) -> Heatmap:
    table = generated_people(people, extent=domain.extent)
    return seeded_release(table, domain, seed=1, epsilon=epsilon, user="person", x="x", y="y").heatmap(size=120)


@pytest.fixture(scope="module")
def heat() -> Heatmap:
    return heat_of(CITY)


def test_people_add_up_to_the_estimated_number(heat: Heatmap) -> None:
    people = heat.in_people()
    assert heat.release is not None
    assert people.values.sum() == pytest.approx(heat.release.people.mean, rel=1e-3)
    assert people.in_people() is people
    assert (people.quantity, heat.quantity) == ("people", "share")
    assert people.values / people.values.sum() == pytest.approx(heat.values)
    assert people.significant().any()


def test_the_uncertainty_of_the_total_is_in_that_of_people() -> None:
    """All people are in the only pixel of a map, which is certain; how many they are is not."""
    square = dph.Domain.unit(6)
    made = seeded_release(generated_people(60), square, seed=1, epsilon=0.5, user="person", x="x", y="y")
    share = made.heatmap(size=1)
    people = share.in_people()
    assert share.std == pytest.approx(0, abs=1e-9)
    assert people.std is not None
    assert people.std.item() >= made.people.std
    low, high = people.interval(0.9)
    assert low.item() < people.values.item() < high.item()


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_about_people(kind: str) -> None:
    heat = heat_of(KINDS[kind]).in_people()
    words = picture_of(heat).words
    nouns = {"ground": "people", "image": "viewers", "unit": "people"}[kind]
    assert "of every" not in " ".join((words.legend.title, words.legend.short, words.takeaway, words.reading.range))
    assert nouns in words.legend.title
    assert nouns in words.reading.range
    assert f"{nouns} in all" in words.facts[0]
    picture = picture_of(heat)
    assert picture.unit.base is None
    assert picture.unit.area is not None
    assert picture.values.max() == pytest.approx(float((heat.density * picture.unit.area.size).max()), rel=1e-6)
    assert len(picture.edges) >= 3


def test_the_range_of_all_people_holds_their_number(heat: Heatmap) -> None:
    first = picture_of(heat.in_people()).words.facts[0]
    low, high = (int(first.replace(",", "").split()[place]) for place in (2, 4))
    assert low <= 4000 <= high


def test_limits_are_people_per_square_kilometre(heat: Heatmap) -> None:
    picture = picture_of(heat.in_people(), Look(limits=(1, 50)))
    assert tuple(picture.edges) == (1, 2, 5, 10, 20, 50)
    assert picture.words.legend.title == "How many people are in a square kilometre here"


def test_files_have_people_where_they_had_shares(heat: Heatmap, tmp_path: Path) -> None:
    total = heat.in_people().values.sum()
    for suffix in (".csv", ".geojson", ".npz", ".nc", ".parquet", ".html", ".png"):
        heat.save(tmp_path / f"m{suffix}", values="people")
    with (tmp_path / "m.csv").open() as file:
        assert sum(float(row["people"]) for row in csv.DictReader(file)) == pytest.approx(total)
    features = json.loads((tmp_path / "m.geojson").read_text())["features"]
    assert sum(f["properties"]["people"] for f in features) == pytest.approx(total, rel=1e-3)
    assert all(f["properties"]["std"] > 0 for f in features)
    with np.load(tmp_path / "m.npz") as file:
        assert str(file["quantity"]) == "people"
        assert file["values"].sum() == pytest.approx(total)
    import xarray

    with xarray.open_dataset(tmp_path / "m.nc") as data:
        assert data["people"].attrs["long_name"] == "number of people in the pixel"
    heat.save(tmp_path / "h.csv", values="people", h3=8)
    with (tmp_path / "h.csv").open() as file:
        assert sum(float(row["people"]) for row in csv.DictReader(file)) == pytest.approx(total)


def test_maps_without_a_release_have_no_people(heat: Heatmap) -> None:
    from dataclasses import replace

    with pytest.raises(ParameterError, match="Numbers of people are known of maps from a release"):
        replace(heat, estimate=None).in_people()


def test_a_map_of_nobody_is_still_drawn(tmp_path: Path) -> None:
    none = np.zeros(0, np.int64)
    nobody = dph.Counts.from_cells(CITY, none, none, none)
    for epsilon in (1, 5):
        dph.release(nobody, epsilon=epsilon).heatmap(size=40).save(tmp_path / "m.png", values="people")


# The part of epsilon for the number of people


@pytest.mark.parametrize("design", ["ladder", "adaptive"])
def test_a_larger_share_tells_the_number_better(design: str) -> None:
    counts = dph.aggregate(generated_people(3000, extent=CITY.extent), CITY, user="person", x="x", y="y")
    found = {}
    for share in (0.01, 0.3):
        made = [
            seeded_release(counts, seed=seed, epsilon=1, design=design, people_share=share).people for seed in range(3)
        ]
        found[share] = np.mean([people.std for people in made])
    assert found[0.3] < 0.5 * found[0.01]
    assert found[0.3] == pytest.approx(np.sqrt(2) / 0.3, rel=0.35)


def test_the_paths_never_spend_more_than_epsilon() -> None:
    from dpheatmap.design.ladder import LadderDesign
    from dpheatmap.design.shares import SHARES

    for share in (1e-6, 0.01, 0.25, 0.5):
        made = dph.release(
            generated_people(50), dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y", people_share=share
        )
        assert isinstance(made.design, LadderDesign)
        m = made.measurements
        spent = int(m.shares[0]) + max(int(m.shares[m.levels == level].max()) for level in np.unique(m.levels)[1:])
        assert spent <= SHARES


@pytest.mark.parametrize("design", ["paper", "dense"])
def test_designs_without_a_first_count_refuse_a_share(design: str) -> None:
    with pytest.raises(ParameterError, match="people_share is for the design"):
        dph.plan(CITY, epsilon=1, users=100, design=design, people_share=0.1)


def test_a_plan_says_what_it_buys() -> None:
    usual, more = (dph.plan(CITY, epsilon=1, users=5000, people_share=share) for share in (None, 0.2))
    assert usual.people_error is not None
    assert more.people_error is not None
    assert more.people_error < 0.3 * usual.people_error
    assert "With a people share of 0.1, to within" in str(usual)
    assert "With a people share of 0.01, to within" in str(more)
    assert more.to_dict()["people_share"] == "1/5"
    with pytest.raises(ParameterError, match="there is none"):
        dph.plan(CITY, epsilon=1, users=5000, people_share=0.2, trusted="servers")


def test_a_plan_says_what_the_map_loses() -> None:
    usual, more = (dph.plan(CITY, epsilon=1, users=5000, people_share=share) for share in (None, 0.1))
    assert usual.other_share is not None
    assert more.expected_emd == usual.other_share.expected_emd > usual.expected_emd
    assert "% more." in str(usual)
    assert "% less." in str(more)
    assert more.to_dict()["other_share"]["share"] == "1/100"


def test_the_plan_s_error_is_that_of_releases() -> None:
    """Nine in ten estimates are within it; of 30, at least 20 but for a chance below 1e-6."""
    counts = dph.aggregate(generated_people(2000, extent=CITY.extent), CITY, user="person", x="x", y="y")
    planned = dph.plan(CITY, epsilon=1, users=2000).people_error
    assert planned is not None
    off = [abs(seeded_release(counts, seed=seed, epsilon=1).people.mean - 2000) for seed in range(30)]
    assert sum(each <= planned for each in off) >= 20
