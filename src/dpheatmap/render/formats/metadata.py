"""Metadata of every file: how it was made, and its privacy promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpheatmap.design.privacy_loss import ConcentratedLoss
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.releases.trust import PERSON
from dpheatmap.render.content.subject import subject_of
from dpheatmap.render.content.words import (
    combined_in_words,
    priors_in_words,
    promise_in_words,
    trust_in_words,
    warnings_of,
)

if TYPE_CHECKING:
    from dpheatmap.heatmap.differences import Difference
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.heatmap.series import Series
    from dpheatmap.releases.estimable import Estimable


def facts(heat: Heatmap, *, smoothed: bool = True) -> dict[str, Any]:
    """Everything public about how a map was made, as text and numbers that any format can hold."""
    smoothing = {"sigma": heat.sigma, "sigma_unit": heat.domain.unit_name} if smoothed else {}
    return facts_of_release(heat, empty=heat.empty, **smoothing)


def facts_of_series(series: Series, *, smoothed: bool = True) -> dict[str, Any]:
    """Everything public about how the maps of a series were made, and the slices in which no place stands out."""
    bare = [label for label in series.labels if series[label].empty]
    smoothing = {"sigma": series.sigma, "sigma_unit": series.domain.unit_name} if smoothed else {}
    told = facts_of_release(series[series.labels[0]], empty=len(bare) == len(series), **smoothing)
    without = {"slices_without_signal": ", ".join(bare)} if bare else {}
    return {**told, "slices": series.release.label["slices"], **without}


def facts_of_release(made: Heatmap | Estimable, *, empty: bool, **more: Any) -> dict[str, Any]:
    """Everything public about a release, or a map made from it; ``empty`` means that nothing rose above the noise."""
    from dpheatmap import __version__

    notes, unit = warnings_of(made, empty=empty), made.trust.unit
    level = "user-level" if unit == PERSON else f"{unit}-level"
    return {
        "title": subject_of(made.domain, unit=unit).title,
        "software": f"dpheatmap {__version__}",
        "made": made.made.isoformat(),
        "privacy": ", ".join(
            [f"{level} differential privacy", f"{promise_in_words(made)} per {unit}", *trust_in_words(made)]
        ),
        "epsilon": str(made.epsilon),
        "delta": str(made.delta),
        **({"rho": str(made.loss.rho)} if isinstance(made.loss, ConcentratedLoss) else {}),
        "trusted": made.trust.who,
        **more,
        **({"combined": "; ".join(used)} if (used := combined_in_words(made)) else {}),
        **({"priors": "; ".join(used)} if (used := priors_in_words(made)) else {}),
        **({"warning": ". ".join(notes)} if notes else {}),
    }


def facts_of_difference(change: Difference) -> dict[str, Any]:
    """Everything public about how both maps of a difference were made."""
    sides = {"before": change.before, "after": change.after}
    told = {f"{side}_{name}": value for side, heat in sides.items() for name, value in facts(heat).items()}
    both = {"title": "What changed: after minus before", "software": told.pop("after_software")}
    together = {"epsilon_of_both_together": str(change.loss.epsilon), "delta_of_both_together": str(change.loss.delta)}
    return both | together | {name: value for name, value in told.items() if not name.endswith("software")}


def refuse_without_ground(domain: Domain, what: str, instead: str) -> None:
    """Refuse to put an image or a unit square on the ground."""
    if not domain.geographic:
        raise ParameterError(
            f"{what} lies on the ground, and the place of this map is {domain.place.words}. Use {instead}."
        )
