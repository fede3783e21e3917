"""What every file says about itself: how it was made, and what is promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.render.wording import promise_in_words, trust_in_words, warnings_of

if TYPE_CHECKING:
    from dpheatmap.heatmap.heatmap import Heatmap

TITLE = "Where people are"


def facts(heat: Heatmap, *, smoothed: bool = True) -> dict[str, Any]:
    """Everything public about how a map was made, as text and numbers that any format can hold."""
    from dpheatmap import __version__

    about: dict[str, Any] = {
        "title": TITLE,
        "software": f"dpheatmap {__version__}",
        "made": heat.made.isoformat(),
        "privacy": ", ".join(
            ["user-level differential privacy", f"{promise_in_words(heat)} per person", *trust_in_words(heat)]
        ),
        "epsilon": str(heat.epsilon),
        "delta": str(heat.delta),
        "trusted": heat.trust.who,
    }
    if smoothed:
        about |= {"sigma": heat.sigma, "sigma_unit": heat.domain.unit_name}
    notes = warnings_of(heat)
    return about | ({"warning": ". ".join(notes)} if notes else {})


def refuse_without_ground(domain: Domain, what: str, instead: str) -> None:
    """Refuse to put an image or a unit square on the ground."""
    if not domain.geographic:
        raise ParameterError(
            f"{what} lies on the ground, and the place of this map is {_KINDS[domain.kind]}. Use {instead}."
        )


_KINDS = {"image": "an image", "unit": "a unit square"}
