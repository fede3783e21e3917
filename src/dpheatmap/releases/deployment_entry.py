"""A release as an entry for the public registry of deployments of differential privacy, in its tier 3.

What the release tells is filled in. What only people know (who publishes it, when and what for) is taken from what they
tell, or is left open and marked. Nothing is guessed.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from dpheatmap._util.yaml_text import yaml_text
from dpheatmap.design.privacy_loss import ConcentratedLoss, PrivacyLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.releases.deployment_schema import SECTIONS, VERSION, problem_of, problems_of
from dpheatmap.releases.noise_law import least_devices
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.releases.trust import PERSON, Trust

BLANK = "TO FILL IN"
"""How every text begins that somebody still has to write."""
NO_DATE = "1900-01-01"
"""The registry wants a date in its form; its own template has this one in place of an unknown one."""

ASKED: Mapping[str, Mapping[str, str]] = {
    "basic": {
        "name": "the name of the data product",
        "data_curators": "the organisation that publishes it",
        "intended_use": "what it is meant to be used for",
        "data_product_region": "which region it describes, or whose laws apply",
        "publication_date": "the day of publication",
        "data_product_sector": "Technology, Healthcare, Education, Government, Energy or Finance",
    },
    "deployment_model": {
        "release_type": "One release, or Many releases if there will be more about these people",
        "release_type_details": "whether more will be published about these people, and within which limit",
        "data_source_type": "Static, or Dynamic if data keeps coming in",
        "data_source_type_details": "from when the data is, and whether more comes in",
    },
    "implementation": {
        "preprocessing_and_hyperparameter_tuning": "how rows were chosen and cleaned before, whether anybody looked at "
        "the data to choose the place, epsilon or another setting, and what a search of the place by discover cost",
        "justification": "why this epsilon and this unit were chosen, and by whom",
    },
    "administrative": {
        "sources": "where the release and texts about it can be found",
        "registry_authors": "who wrote this entry",
    },
}
"""What no release tells, by its section: what people are asked for."""

_UNITS = {
    "curator": "Person (user-level): all rows under one id together",
    "shuffler": "Participant (user-level): all data on one device together",
    "servers": "Participant (user-level): all data on one device together",
    "nobody": "One report of a participant, which stands for all data on one device together",
}
_PRESENT = (
    "Two collections are adjacent if they differ in one participant, whose whole data is replaced by none. The number "
    "of participants is public and the same in both."
)
_ADJACENT = {
    "curator": "Two tables are adjacent if one is the other with all rows of one person added, however many rows they "
    "have (unbounded adjacency). Rows belong to one person if their ids are equal byte by byte. Replacing one person's "
    "rows by others is a removal and an addition, and costs twice epsilon.",
    "shuffler": _PRESENT,
    "servers": _PRESENT,
    "nobody": "Any two values of one participant's whole data are adjacent, or none. The promise is for one report; "
    "each further report of the same participant costs epsilon again.",
}
_MODELS = {"curator": "Central", "shuffler": "Shuffle", "servers": "Federated", "nobody": "Local"}
_HANDLED = {
    "curator": "One data holder has all rows, adds the noise and publishes the release.",
    "shuffler": "Each device adds a part of the noise. A shuffler mixes all messages before they are added up.",
    "servers": "Devices split their numbers into shares that look random, one for each of several servers, and each "
    "server adds noise of its own. Of the names that the registry offers, this comes nearest.",
    "nobody": "Each device randomises its only report before it sends it.",
}
_PATHS = (
    "Basic composition along the paths of a quadtree: the parts of epsilon spent on the cells of any path, from the "
    "whole place down to a finest cell, add up to at most epsilon. A person's weight of at most 1 is shared over the "
    "finest cells, so the loss of a person is at most epsilon."
)
_PATHS_OF_RHO = (
    "Zero-concentrated composition along the paths of a quadtree: the parts of rho spent on the cells of any path add "
    "up to at most rho, whatever is answered. A person with a weight p in a cell costs p^2 of its part, or at most p."
)
_ONE_LEVEL = "Each device spends all of epsilon on one report about one level, which it draws at random."
_AFTERWARDS = (
    "Noisy sums are held within 2^61 units. Maps, areas, numbers of people and their intervals are computed from the "
    "noisy counts alone: a posterior distribution over non-negative masses, then Gaussian smoothing. It costs nothing."
)
_ROWS = (
    "Rows without a person, without valid coordinates or outside the place count for nobody, each by itself. All rows "
    "of a person that are counted together weigh at most 1, in integers that are rounded down."
)
_SAFETY = (
    "It is sampled exactly, by integer arithmetic, from the operating system's cryptographic source. There is no "
    "floating point between counts and noise. How long the computation takes is not hidden from whoever can measure it."
)


def deployment_entry(release: Release | SlicedRelease, told: Mapping[str, Any]) -> dict[str, Any]:
    """The entry for a release. ``told`` has what people told, by the names of the registry's fields.

    A value of None marks a choice that is open. Other open fields begin with :data:`BLANK`, or have :data:`NO_DATE`.
    """
    if release.seeded:
        raise PrivacyRefusal(
            "This release was made with a seed and is not private, so it is no deployment of differential privacy. "
            "Make the release without a seed."
        )
    given = {name: _fact_in_form(name, value) for name, value in told.items()}
    sections = _facts_of_release(release)
    for section, asked in ASKED.items():
        for name, what in asked.items():
            sections[section][name] = _value(section, name, what, given, sections[section].get(name))
    ordered = {
        section: {name: sections[section][name] for name in fields if name in sections[section]}
        for section, fields in SECTIONS.items()
    }
    entry = {"url_slug": _slug(given), "status": "Draft", "tier": 3, "deployment": ordered}
    assert not problems_of(without_choices(entry)), "the registry would refuse what is written here"
    return entry


def without_choices(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry as the registry reads it: without the choices that are open."""
    return {
        name: without_choices(value) if isinstance(value, Mapping) else value
        for name, value in entry.items()
        if value is not None
    }


def blanks_of(entry: Mapping[str, Any], above: str = "") -> list[str]:
    """The names of all fields that are still open, with those of their sections."""
    found = []
    for name, value in entry.items():
        if isinstance(value, Mapping):
            found += blanks_of(value, f"{above}{name}.")
        elif value is None or any(map(_is_blank, value if isinstance(value, list) else [value])):
            found.append(f"{above}{name}")
    return found


def entry_text(entry: Mapping[str, Any], made: datetime) -> str:
    """The entry as YAML, with a comment at each choice that is open."""
    comments = {
        f"deployment.{section}.{name}": f"{BLANK}: {what}"
        for section, asked in ASKED.items()
        for name, what in asked.items()
        if entry["deployment"][section][name] in (None, NO_DATE)
    }
    day = "deployment.basic.publication_date"
    if day in comments:
        comments[day] += f"; the release was made on {made:%Y-%m-%d}"
    head = f"# By the schema of opendp/deployments-registry-data at commit {VERSION}.\n"
    return head + yaml_text(entry, comments)


def _fact_in_form(name: str, value: Any) -> Any:
    """What people told about a field, in the registry's form; refused if it is not what the field holds."""
    section = next((section for section, asked in ASKED.items() if name in asked), None)
    if section is None:
        known = ", ".join(name for asked in ASKED.values() for name in asked)
        raise ParameterError(f"There is nothing to tell about {name!r} in an entry. What can be told is {known}.")
    text = value.isoformat() if type(value) is date else value
    field = SECTIONS[section][name]
    shown = [text] if field.kind == "texts" and isinstance(text, str) else text
    words = shown if isinstance(shown, list) else [shown]
    empty = not all(isinstance(word, str) and word.strip() for word in words)
    if wrong := problem_of(shown, field) or ("is empty, or not a text" if empty else None):
        raise ParameterError(f"What was told about {name} {wrong}. Correct it, or leave it out to fill it in later.")
    return shown


def _value(section: str, name: str, what: str, given: Mapping[str, Any], known: str | None) -> Any:
    """What is told of a field, after what is known; else a blank of its form."""
    field = SECTIONS[section][name]
    if field.choices and name not in given:
        return None
    if field.kind in ("texts", "date"):
        blank: Any = NO_DATE if field.kind == "date" else [f"{BLANK}: {what}"]
        return given.get(name, blank)
    if known is None or name == "data_product_region":
        return given.get(name, known or f"{BLANK}: {what}")
    return f"{known} {given.get(name, f'{BLANK}: {what}')}"


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and (BLANK in value or value in (NO_DATE, _NO_SLUG))


def _facts_of_release(release: Release | SlicedRelease) -> dict[str, dict[str, Any]]:
    """Everything that the release itself tells, by section."""
    who, loss, label = release.trust.who, release.loss, release.label
    slices = f" {label['slices']}" if "slices" in label else ""
    parameters = {"epsilon": _at_least(loss.epsilon)} | ({"delta": _at_least(loss.delta)} if loss.delta else {})
    variant = "Approximate DP" if loss.delta else "Pure DP"
    if isinstance(loss, ConcentratedLoss):
        parameters, variant = {"rho": _at_least(loss.rho)} | parameters, "Zero-concentrated DP"
    return {
        "basic": {
            "data_product_type": "Summary statistics",
            "data_product_region": _region(release.domain),
            "description": "Noisy counts of people in the cells of a quadtree over a public place "
            f"({release.domain.place.words}), from which heatmaps are made.{slices}",
        },
        "dp_variant": {
            "variant_name": variant,
            "data_domain": _data_domain(release),
            "unprotected_quantities": _public_quantities(release),
        },
        "privacy_loss": {
            **_unit(release.trust, loss),
            "privacy_parameters": parameters,
            "privacy_parameters_details": f"Exactly, {loss}. It is the loss of this release alone, and further "
            f"releases about the same people add theirs. {label['budget']}",
        },
        "deployment_model": {
            "model_name": _MODELS[who],
            "model_name_details": _HANDLED[who],
            "actors": f"Trusted: {label['trusted']} Protected: {label['who']} {label['from_what']}",
            "access_type": "Non-interactive",
            "access_type_details": "The release is a file. Nobody can ask the data anything through it.",
        },
        "accounting": {
            "post_processing": _AFTERWARDS,
            "composition": _composition(release),
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": None if release.trust.collected else _ROWS,
            "mechanisms": f"{_mechanism(release)} Software: dpheatmap; the release file names its version.",
        },
        "administrative": {},
    }  # fmt: skip


def _unit(trust: Trust, loss: PrivacyLoss) -> dict[str, str]:
    """What is protected, and which tables are adjacent."""
    if trust.unit == PERSON:
        adjacent = _ADJACENT[trust.who].replace("twice epsilon", f"twice {_budget_name(loss)}")
        return {"privacy_unit": _UNITS[trust.who], "privacy_unit_details": adjacent}
    return {
        "privacy_unit": f"{trust.unit.capitalize()} (not user-level)",
        "privacy_unit_details": f"Two tables are adjacent if one is the other with one {trust.unit} added (unbounded "
        f"adjacency). A person with several {trust.unit}s is protected for each of them only.",
    }


def _composition(release: Release | SlicedRelease) -> str:
    """Why everything that was measured costs epsilon in all."""
    if release.trust.who == "nobody":
        return _ONE_LEVEL
    if not isinstance(release, SlicedRelease):
        return _PATHS_OF_RHO if isinstance(release.loss, ConcentratedLoss) else _PATHS
    if release.split == "epsilon":
        many = len(release.slices)
        return f"The {many} slices have epsilon / {many} each, and add up to epsilon. Within a slice: {_PATHS}"
    return f"{_PATHS} {release.label['slices']}"


def _region(domain: Domain) -> str | None:
    """Where the place is on the ground, if it is."""
    if not domain.geographic:
        return None
    west, south, east, north = domain.extent
    return f"Longitudes {west:.10g} to {east:.10g} and latitudes {south:.10g} to {north:.10g} degrees"


def _data_domain(release: Release | SlicedRelease) -> str:
    place = release.domain.place.words
    if release.trust.collected:
        return f"All collections of devices, each with any number of points on {place}, or none."
    return f"All tables of rows of a person and a point on {place} or elsewhere, with any number of rows a person."


def _public_quantities(release: Release | SlicedRelease) -> str:
    """What is public whatever the data is."""
    budget = _budget_name(release.loss)
    public = f"the place and its finest level, {budget}, the design and its settings, and the time of making"
    if isinstance(release, SlicedRelease):
        public += f", and the list of {len(release.slices)} slices"
    if not release.trust.collected:
        return f"No statistic of the data. Chosen without noise are {public}."
    return f"The number of participants ({release.trust.participants:,}), and whose devices took part. Also {public}."


def _mechanism(release: Release | SlicedRelease) -> str:
    who, units = release.trust.who, UNITS if isinstance(release, SlicedRelease) else release.units
    if who == "nobody":
        return (
            "Randomised response on each device, with all of epsilon, for the cell of one of its points on a level "
            "that was drawn at random."
        )
    law = (
        f"discrete Laplace noise on integer counts, P(k) proportional to exp(-|k| b / W), for a part b of epsilon and "
        f"W = {units} units a person"
    )
    if isinstance(release.loss, ConcentratedLoss):
        law = (
            "discrete Gaussian noise on integer counts, P(k) proportional to exp(-k^2 r / W^2), for a part r of rho "
            f"and W = {units} units a person"
        )
    chosen = f"The design {release.design.name!r} chose the cells and their parts of {_budget_name(release.loss)}."
    if who == "curator":
        return f"The curator adds {law}. {_SAFETY} {chosen}"
    if who == "servers":
        return f"Each of {release.noise.summed} servers adds {law}. {_SAFETY} {chosen}"
    return (
        "Each device adds differences of negative binomial variables to its integers. Together, those of "
        f"{least_devices(release.trust, release.noise)} devices are {law}. {_SAFETY} {chosen}"
    )


def _budget_name(loss: PrivacyLoss) -> str:
    return "rho" if isinstance(loss, ConcentratedLoss) else "epsilon"


def _at_least(exact: Fraction) -> float:
    """The nearest float that is not below: a loss is never stated too small."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


_NO_SLUG = "to-fill-in"


def _slug(given: Mapping[str, Any]) -> str:
    """A name for addresses, from the product's name, its curators and the year, once these are told.

    >>> _slug({"name": "Trips in Zürich", "data_curators": ["City"], "publication_date": "2026-01-31"})
    'trips-in-zurich-city-2026'
    """
    if not {"name", "data_curators", "publication_date"} <= given.keys():
        return _NO_SLUG
    words = " ".join([given["name"], *given["data_curators"], given["publication_date"][:4]])
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))
