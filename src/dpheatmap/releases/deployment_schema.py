"""The fields of an entry in the public registry of deployments of differential privacy, and a check of an entry.

The registry is that of OpenDP and its partners (registry.opendp.org). What is here are the facts of its schema: names,
kinds, choices, tiers, and what must be there. They were read from `schemas/deployments-schema.yaml` of the repository
opendp/deployments-registry-data, and stated here in our own form. The registry's own program has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

VERSION = "3e9c812a924cf01d228f26f6c462c59c391c3f2a of 15 July 2026"
"""The commit of the schema that is followed; the schema has no numbers of versions."""


class Field(NamedTuple):
    """A field: what it holds, the tier that asks for it, whether no entry is valid without it, and its choices."""

    kind: str
    tier: int
    required: bool = False
    choices: tuple[str, ...] = ()


TOP: Mapping[str, Field] = {
    "url_slug": Field("text", 1, True),
    "status": Field(
        "text", 1, True,
        ("Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)",
         "Approved (Pending)"),
    ),
    "tier": Field("tier", 1, True),
}  # fmt: skip
SECTIONS: Mapping[str, Mapping[str, Field]] = {
    "basic": {
        "name": Field("text", 1, True),
        "data_curators": Field("texts", 1, True),
        "intended_use": Field("text", 1, True),
        "data_product_type": Field(
            "text", 1, True,
            ("Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
             "SQL queries"),
        ),
        "data_product_region": Field("text", 1, True),
        "description": Field("text", 1, True),
        "publication_date": Field("date", 1, True),
        "data_product_sector": Field(
            "text", 1, False, ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
        ),
    },
    "dp_variant": {
        "variant_name": Field(
            "text", 2, False, ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
        ),
        "data_domain": Field("text", 3),
        "unprotected_quantities": Field("text", 3),
    },
    "privacy_loss": {
        "privacy_unit": Field("text", 2),
        "privacy_unit_details": Field("text", 3),
        "privacy_parameters": Field("parameters", 2),
        "privacy_parameters_details": Field("anything", 3),
    },
    "deployment_model": {
        "model_name": Field("text", 2, False, ("Local", "Central", "Shuffle", "Federated", "Varies")),
        "model_name_details": Field("text", 3),
        "actors": Field("text", 3),
        "release_type": Field("text", 2, False, ("One release", "Many releases")),
        "release_type_details": Field("text", 3),
        "data_source_type": Field("text", 2, False, ("Static", "Dynamic")),
        "data_source_type_details": Field("anything", 3),
        "access_type": Field("text", 2, False, ("Interactive", "Non-interactive")),
        "access_type_details": Field("text", 3),
    },
    "accounting": {"post_processing": Field("text", 3), "composition": Field("text", 3)},
    "implementation": {
        "preprocessing_and_hyperparameter_tuning": Field("text", 3),
        "mechanisms": Field("text", 3),
        "justification": Field("text", 3),
    },
    "administrative": {
        "sources": Field("text", 1),
        "notes": Field("text", 1),
        "registry_authors": Field("texts", 1, True),
    },
}  # fmt: skip
_PARAMETERS = {"epsilon": (int, float), "delta": (int, float, str), "rho": (int, float)}
_TIERS = (1, 2, 3)


def problems_of(entry: Any) -> list[str]:
    """What the registry would refuse about an entry, a sentence each; none if it is valid.

    >>> problems_of({"url_slug": "trips", "status": "Draft", "tier": 4, "deployment": {}})
    ['tier is not 1, 2 or 3', 'deployment.basic is missing']
    """
    if not isinstance(entry, Mapping):
        return ["the entry is not a mapping"]
    rest = {name: value for name, value in entry.items() if name != "deployment"}
    found = list(_problems(rest, TOP, ""))
    deployment = entry.get("deployment")
    if not isinstance(deployment, Mapping):
        return [*found, "deployment is not a mapping" if "deployment" in entry else "deployment is missing"]
    if "basic" not in deployment:
        found.append("deployment.basic is missing")
    for section, fields in deployment.items():
        path = f"deployment.{section}"
        if section not in SECTIONS:
            found.append(f"{path} is unknown")
        elif not isinstance(fields, Mapping):
            found.append(f"{path} is not a mapping")
        else:
            found += _problems(fields, SECTIONS[section], f"{path}.")
    return found


def problem_of(value: Any, field: Field) -> str | None:
    """What is wrong with the value of a field, as the rest of a sentence; None if nothing is."""
    if field.kind == "tier":
        return None if type(value) is int and value in _TIERS else "is not 1, 2 or 3"
    if field.kind == "texts":
        good = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        return (_slashes(*value) if good else "is not a list of texts") or None
    if field.kind == "parameters":
        return _problem_of_parameters(value)
    if field.kind == "anything":
        return _slashes(value)
    if not isinstance(value, str):
        return "is not a text"
    if field.kind == "date" and not _is_date(value):
        return "is not a date such as 2026-01-31"
    if field.choices and value not in field.choices:
        return f"is none of {', '.join(field.choices)}"
    return _slashes(value)


def _problems(values: Mapping[str, Any], fields: Mapping[str, Field], above: str) -> Iterator[str]:
    for name, value in values.items():
        wrong = problem_of(value, fields[name]) if name in fields else "is unknown"
        if wrong:
            yield f"{above}{name} {wrong}"
    yield from (f"{above}{name} is missing" for name, field in fields.items() if field.required and name not in values)


def _problem_of_parameters(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is not a mapping"
    for name, number in value.items():
        if name not in _PARAMETERS:
            return f"has the unknown parameter {name}"
        if isinstance(number, bool) or not isinstance(number, _PARAMETERS[name]):
            return f"has a {name} that is not a number"
    return None


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _slashes(*texts: Any) -> str | None:
    """The registry refuses two backslashes, but for those of formulas: before a bracket."""
    doubled = any(isinstance(text, str) and re.search(r"\\\\[^()]", text) for text in texts)
    return "has two backslashes in a row" if doubled else None
