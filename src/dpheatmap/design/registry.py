"""All designs by name, with their forecasts. A new one is a module of its own, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpheatmap._util.options import option_fields
from dpheatmap._util.parameters import RULES, check, one_of
from dpheatmap.design.adaptive import GAUSSIAN_SPENT, AdaptiveDesign
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.design import Design
from dpheatmap.design.forecast import AdaptiveForecast, DenseForecast, Forecast, LadderForecast, PaperForecast
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.settings import Settings
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain

_ALL: Mapping[type[Design], Forecast] = {
    LadderDesign: LadderForecast(),
    AdaptiveDesign: AdaptiveForecast(),
    PaperDesign: PaperForecast(),
    DenseDesign: DenseForecast(),
}
DESIGNS: Mapping[str, type[Design]] = {kind.name: kind for kind in _ALL}
FORECASTS: Mapping[str, Forecast] = {kind.name: forecast for kind, forecast in _ALL.items()}
POSTERIOR = "posterior"
"""The reconstruction that every design has."""
METHODS = tuple(dict.fromkeys([POSTERIOR, *(method for kind in DESIGNS.values() for method in kind.methods)]))

RULES["design"] = one_of(*DESIGNS)
RULES["method"] = one_of(*METHODS)


def choose_design(domain: Domain, epsilon: Fraction, settings: Settings) -> Design:
    """Choose the design that settings name, or refuse them; a design that was made already is kept.

    >>> choose_design(Domain.unit(8), Fraction(1), Settings(design="paper")).first
    2
    """
    if isinstance(settings.design, tuple(DESIGNS.values())):
        return _design_object(domain, settings)
    check(design=settings.design)
    kind = DESIGNS[str(settings.design)]
    if settings.users is not None and "users" not in kind.takes:
        takers = " or ".join(repr(other.name) for other in DESIGNS.values() if "users" in other.takes)
        raise ParameterError(
            f"users is for the design {takers}, whose grid it chooses; the design was {kind.name!r}. Leave it out."
        )
    if settings.people_share is not None and "people_share" not in kind.takes:
        takers = " or ".join(repr(other.name) for other in DESIGNS.values() if "people_share" in other.takes)
        raise ParameterError(
            f"people_share is for the design {takers}, which counts everybody first; the design was {kind.name!r}. "
            "Leave it out."
        )
    return kind.choose(domain, epsilon, settings)


def choose_for_gaussian(domain: Domain, settings: Settings) -> AdaptiveDesign:
    """Choose the design for Gaussian noise: the adaptive one, since its decisions are made by published values.

    The ladder, which is the default elsewhere, gives way to it; others are refused.
    """
    design = settings.design
    if isinstance(design, AdaptiveDesign):
        made = _design_object(domain, settings)
        assert isinstance(made, AdaptiveDesign)
        return made
    if design not in (LadderDesign.name, AdaptiveDesign.name):
        raise ParameterError(
            "Gaussian noise goes with the design 'adaptive'; it was "
            f"{design if isinstance(design, str) else design.name!r}. Leave it out, or use Laplace noise."
        )
    if settings.users is not None:
        raise ParameterError("users is for the design 'dense', which has Laplace noise. Leave it out.")
    return replace(AdaptiveDesign.choose(domain, Fraction(1), settings), spent=GAUSSIAN_SPENT)


def _design_object(domain: Domain, settings: Settings) -> Design:
    """A design that was made already, for experiments; it has its own settings."""
    design = settings.design
    assert not isinstance(design, str)
    for name, one in option_fields(Settings).items():
        if name != "design" and getattr(settings, name) != one.default:
            raise ParameterError(f"{name} goes with the name of a design, and a design was given. Leave it out.")
    if design.last > domain.depth:
        raise ParameterError(
            f"The design given has levels down to {design.last}, and the domain ends at {domain.depth}. Make another."
        )
    return design


def read_design(metadata: Mapping[str, Any]) -> Design:
    """The design that a file's metadata describes."""
    check(design=metadata["design"])
    return DESIGNS[metadata["design"]].from_dict(metadata)


def check_method(method: str, design: str) -> None:
    """Refuse an unknown reconstruction, or one that is not for releases of the design."""
    check(method=method)
    if method == POSTERIOR or method in DESIGNS[design].methods:
        return
    fitting = " or ".join(repr(kind.name) for kind in DESIGNS.values() if method in kind.methods)
    raise ParameterError(
        f"The method {method!r} is for releases of the design {fitting}; this one's is {design!r}. "
        "Use method='posterior'."
    )
