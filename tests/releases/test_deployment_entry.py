"""Entries for the public registry of deployments: valid for every release, true to it, and open where it can't know."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss, loss_of
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.releases.deployment_entry import (
    ASKED,
    BLANK,
    NO_DATE,
    blanks_of,
    deployment_entry,
    entry_text,
    without_choices,
)
from dpheatmap.releases.deployment_schema import SECTIONS, problems_of
from dpheatmap.releases.noise_law import (
    DISCRETE_GAUSSIAN,
    LAPLACE,
    GaussianNoise,
    LaplaceNoise,
    NoiseLaw,
    shuffled_noise,
)
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.trust import CURATOR, Trust
from dpheatmap.testing import generated_people, seeded_release

AnyRelease = dph.Release | dph.SlicedRelease
TRIANGLE = {"type": "Polygon", "coordinates": [[[8, 47], [9, 47], [8, 48], [8, 47]]]}
PLACES = {
    "unit": dph.Domain.unit(4),
    "box": dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9),
    "antimeridian": dph.Domain.bbox(170, -20, -170, 0),
    "region": dph.Domain.polygon(TRIANGLE, resolution=5000),
    "image": dph.Domain.image(640, 480),
}
HALVES = {"time": "second", "every": "12 hours", "time_zone": "UTC", "start": "1970-01-01", "end": "1970-01-01"}
GROUPS = {"group": "g", "groups": ["a", 'b"\\\\ # : |', "nobody"]}
SLICES: dict[str, dict[str, Any]] = {
    "hours": {"time": "second", "every": "hour-of-day", "time_zone": "UTC"},
    "halves": HALVES,
    "split": {**HALVES, "split": "epsilon"},
    "groups": GROUPS,
    "both": {**HALVES, **GROUPS},
}
MODELS: dict[str, tuple[Trust, NoiseLaw]] = {
    "Central": (CURATOR, LAPLACE),
    "Shuffle": (Trust("shuffler", 60), shuffled_noise(60, 50)),
    "Federated": (Trust("servers", 60), LaplaceNoise(Fraction(2))),
    "Local": (Trust("nobody", 60), GaussianNoise()),
}
TOLD: dict[str, Any] = {
    "name": "Trips in Zürich",
    "data_curators": ["City of Zürich", "Tram"],
    "intended_use": "Planning of stops",
    "data_product_region": "Zürich",
    "publication_date": date(2026, 1, 31),
    "data_product_sector": "Government",
    "release_type": "Many releases",
    "release_type_details": "Monthly, 3 a year in all",
    "data_source_type": "Dynamic",
    "data_source_type_details": "June 2026",
    "preprocessing_and_hyperparameter_tuning": "None",
    "justification": "The board chose it",
    "sources": "A page",
    "registry_authors": "A. Person",
}
COLUMNS: dict[str, Any] = {"epsilon": 1, "user": "person", "x": "x", "y": "y"}


@cache
def made(kind: str) -> AnyRelease:
    """A release of few people on a place or in slices."""
    table = generated_people(30).project(
        "*, CAST(hash(x) % 86400 AS BIGINT) AS second, CASE WHEN x < y THEN 'a' ELSE 'b' END AS g"
    )
    found: AnyRelease = dph.release(table, PLACES.get(kind, PLACES["unit"]), **COLUMNS, **SLICES.get(kind, {}))
    return found


def read(entry: dict[str, Any]) -> Any:
    """The entry as the registry reads it from its file."""
    return yaml.safe_load(entry_text(entry, made("unit").made))


epsilons = st.fractions(min_value=Fraction(1, 10**9), max_value=10**6) | st.just(Fraction(1, 3))
facts = st.lists(st.sampled_from(sorted(TOLD)), unique=True).map(lambda names: {name: TOLD[name] for name in names})
entries_of_ledgers = st.none() | st.builds(LedgerEntry, st.integers(1, 10**6), st.just("ab" * 32))


@st.composite
def releases(draw: st.DrawFn) -> AnyRelease:
    """Any release: on any place or in slices, of any loss, and of any trust model if it is of one map."""
    one, epsilon = made(draw(st.sampled_from([*PLACES, *SLICES]))), draw(epsilons)
    ledger = draw(entries_of_ledgers)
    if isinstance(one, dph.SlicedRelease):
        return replace(one, loss=PureLoss(epsilon), ledger=ledger)
    trust, noise = draw(st.sampled_from([*MODELS.values()]))
    delta = draw(st.fractions(0, Fraction(1, 2))) if trust.who == "shuffler" else Fraction(0)
    return replace(one, loss=loss_of(epsilon, delta), ledger=ledger, trust=trust, noise=noise)


@settings(max_examples=300, deadline=None)
@given(releases(), facts)
def test_every_release_has_a_valid_entry(release: AnyRelease, told: dict[str, Any]) -> None:
    entry = deployment_entry(release, told)
    found = read(entry)
    assert found == without_choices(entry)
    assert problems_of(found) == []
    assert (found["status"], found["tier"]) == ("Draft", 3)
    parameters = found["deployment"]["privacy_loss"]["privacy_parameters"]
    for name, exact in (("epsilon", release.epsilon), ("delta", release.delta)):
        stated = Fraction(parameters.get(name, 0))
        assert exact <= stated <= exact * (1 + Fraction(1, 2**50)) + Fraction(1, 10**300)
    assert str(release.loss) in found["deployment"]["privacy_loss"]["privacy_parameters_details"]
    open_fields = {path.rpartition(".")[2] for path in blanks_of(entry)}
    known = {"data_product_region"} if release.domain.geographic else set()
    asked = {name for fields in ASKED.values() for name in fields} - known - told.keys()
    slug = set() if {"name", "data_curators", "publication_date"} <= told.keys() else {"url_slug"}
    assert open_fields == asked | slug


def test_every_field_of_tier_3_is_there() -> None:
    """All but the notes, which nobody has to write."""
    found = read(deployment_entry(made("box"), TOLD))["deployment"]
    assert {section: set(fields) for section, fields in found.items()} == {
        section: set(fields) - {"notes"} for section, fields in SECTIONS.items()
    }


@pytest.mark.parametrize("model", MODELS)
def test_the_model_follows_from_who_was_trusted(model: str) -> None:
    trust, noise = MODELS[model]
    found = read(deployment_entry(replace(made("unit"), trust=trust, noise=noise), {}))["deployment"]
    assert found["deployment_model"]["model_name"] == model
    assert ("number of participants (60)" in found["dp_variant"]["unprotected_quantities"]) == trust.collected
    assert found["privacy_loss"]["privacy_unit"].startswith(
        {"Central": "Person (user-level)", "Local": "One report"}.get(model, "Participant")
    )


def test_the_variant_follows_from_delta() -> None:
    for delta, variant in ((Fraction(0), "Pure DP"), (Fraction(1, 10**7), "Approximate DP")):
        loss, (trust, noise) = loss_of(Fraction(2), delta), MODELS["Shuffle"]
        entry = deployment_entry(replace(made("unit"), loss=loss, trust=trust, noise=noise), {})
        assert read(entry)["deployment"]["dp_variant"]["variant_name"] == variant


def test_gaussian_noise_is_told_by_its_rho() -> None:
    gaussian: Any = {"loss": ConcentratedLoss(Fraction(1, 50)), "noise": DISCRETE_GAUSSIAN}
    told = read(deployment_entry(replace(made("unit"), **gaussian), {}))["deployment"]
    assert told["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    assert told["privacy_loss"]["privacy_parameters"]["rho"] == 0.02
    assert told["privacy_loss"]["privacy_unit_details"].endswith("costs twice rho.")
    assert ", rho, the design" in told["dp_variant"]["unprotected_quantities"]


def test_slices_are_told_and_how_they_add_up() -> None:
    for kind in SLICES:
        release = made(kind)
        assert isinstance(release, dph.SlicedRelease)
        found = read(deployment_entry(release, {}))["deployment"]
        assert release.label["slices"] in found["basic"]["description"]
        assert f"the list of {len(release.slices)} slices" in found["dp_variant"]["unprotected_quantities"]
        apart = "epsilon / 2 each, and add up" in found["accounting"]["composition"]
        assert apart == (kind == "split")


def test_what_is_told_is_in_it_and_nothing_is_open_then() -> None:
    entry = deployment_entry(made("unit"), TOLD)
    assert blanks_of(entry) == []
    assert BLANK not in entry_text(entry, made("unit").made)
    assert entry["url_slug"] == "trips-in-zurich-city-of-zurich-tram-2026"
    basic = entry["deployment"]["basic"]
    assert basic["publication_date"] == "2026-01-31"
    assert entry["deployment"]["administrative"]["registry_authors"] == ["A. Person"]
    tuned = entry["deployment"]["implementation"]["preprocessing_and_hyperparameter_tuning"]
    assert tuned.startswith("Rows without a person")
    assert tuned.endswith(" None")


def test_nothing_is_guessed() -> None:
    """Not even the day of publication from the day of making, which is told beside the blank."""
    release = made("box")
    text = entry_text(deployment_entry(release, {}), release.made)
    assert f'publication_date: "{NO_DATE}" # {BLANK}: the day of publication; the release was made on' in text
    assert f"{release.made:%Y-%m-%d}" in text
    assert f"    # release_type: # {BLANK}: One release, or" in text
    assert "Longitudes -74.1 to -73.8 and latitudes 40.6 to 40.9" in text


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"epsilon": 0.1}, "nothing to tell about 'epsilon'"),
        ({"privacy_unit": "a day"}, "nothing to tell about 'privacy_unit'"),
        ({"name": ""}, "name is empty"),
        ({"name": 7}, "name is not a text"),
        ({"name": "a\\\\b"}, "two backslashes"),
        ({"data_curators": []}, "data_curators is not a list of texts"),
        ({"data_curators": ["a", " "]}, "data_curators is empty"),
        ({"data_source_type_details": 3}, "not a text"),
        ({"publication_date": "31.1.2026"}, "is not a date"),
        ({"publication_date": "20260131"}, "is not a date"),
        ({"data_product_sector": "Sports"}, "is none of Technology"),
        ({"release_type": "one"}, "is none of One release"),
    ],
)
def test_what_can_t_be_told_is_refused(told: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        deployment_entry(made("unit"), told)


def test_a_release_with_a_seed_is_no_deployment() -> None:
    seeded = seeded_release(generated_people(9), PLACES["unit"], seed=1, **COLUMNS)
    with pytest.raises(PrivacyRefusal, match="seed"):
        deployment_entry(seeded, TOLD)


def altered(*path: str, value: Any = None, gone: bool = False) -> dict[str, Any]:
    """A valid entry with one value changed, added or gone."""
    entry: dict[str, Any] = copy.deepcopy(without_choices(deployment_entry(made("unit"), TOLD)))
    *above, last = path
    place = entry
    for name in above:
        place = place[name]
    if gone:
        del place[last]
    else:
        place[last] = value
    return entry


REQUIRED = [("url_slug",), ("status",), ("tier",), ("deployment",), ("deployment", "basic")] + [
    ("deployment", section, name) for section, fields in SECTIONS.items() for name in fields if fields[name].required
]


@pytest.mark.parametrize("path", REQUIRED, ids=".".join)
def test_the_check_misses_what_must_be_there(path: tuple[str, ...]) -> None:
    assert f"{'.'.join(path)} is missing" in problems_of(altered(*path, gone=True))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("surprise", "x"),
        ("status", "Ready"),
        ("tier", 0),
        ("tier", True),
        ("deployment", []),
        ("deployment.surprise", {}),
        ("deployment.basic", "x"),
        ("deployment.basic.surprise", "x"),
        ("deployment.basic.name", 1),
        ("deployment.basic.data_product_type", "Heatmap"),
        ("deployment.basic.publication_date", date(2026, 1, 1)),
        ("deployment.basic.publication_date", "1/1/2026"),
        ("deployment.privacy_loss.privacy_parameters", 1.0),
        ("deployment.privacy_loss.privacy_parameters", {"epsilon": "1e-3"}),
        ("deployment.privacy_loss.privacy_parameters", {"epsilon": True}),
        ("deployment.privacy_loss.privacy_parameters", {"alpha": 2}),
        ("deployment.deployment_model.model_name", "Trusted"),
        ("deployment.administrative.registry_authors", "A. Person"),
        ("deployment.administrative.sources", "\\\\epsilon"),
    ],
)
def test_the_check_finds_what_is_wrong(path: str, value: Any) -> None:
    (problem,) = problems_of(altered(*path.split("."), value=value))
    assert problem.startswith(path)


def test_the_check_leaves_what_is_right() -> None:
    assert problems_of([]) == ["the entry is not a mapping"]
    for parameters in ({"epsilon": 1, "delta": "n^-2"}, {"rho": 2.56}, {}):
        path = ("deployment", "privacy_loss", "privacy_parameters")
        assert problems_of(altered(*path, value=parameters)) == []
    assert problems_of(altered("deployment", "administrative", "notes", value=r"\(\rho\) \\(x\\)")) == []
