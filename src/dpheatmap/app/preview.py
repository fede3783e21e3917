"""What to expect from a release, shown on generated people of the stated number: nobody's data is read."""

from __future__ import annotations

import base64
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpheatmap.budget import exact_text
from dpheatmap.curator.api import release
from dpheatmap.domain import Domain
from dpheatmap.heatmap import Heatmap
from dpheatmap.label import odds_in_words
from dpheatmap.parameters import LARGEST_EPSILON
from dpheatmap.plan import length, plan
from dpheatmap.render.picture import picture_of
from dpheatmap.render.thumbnail import thumbnail
from dpheatmap.testing import generated_people

MOST = 50_000
"""How many people are generated at most; beyond, epsilon is raised instead: what counts is people times epsilon."""

SIDE = 256


def foreseen(domain: Domain, epsilon: Fraction, users: int) -> dict[str, Any]:
    """The plan in plain words."""
    made = plan(domain, epsilon=epsilon, users=users)
    feature = made.smallest_feature
    return {
        "epsilon": exact_text(epsilon),
        "odds": odds_in_words(epsilon),
        "chance": float(1 / (1 + np.exp(-min(float(epsilon), 700.0)))),
        "advice": made.advice,
        "error": length(domain, made.expected_emd * domain.longer_side),
        "feature": None if feature is None else length(domain, feature),
        "share": made.levels[-1].smallest_share,
        "noise": made.levels[0].noise,
    }


@lru_cache(maxsize=16)
def previewed(domain: Domain, epsilon: Fraction, users: int) -> dict[str, Any]:
    """Generated people as they are and as a release would show them, and how sure that map is of its busy places."""
    people = min(users, MOST)
    table = generated_people(people, extent=domain.extent)
    spread = min(epsilon * Fraction(users, people), Fraction(LARGEST_EPSILON))
    shown, truth = (
        release(table, domain, epsilon=spent, user="person", x="x", y="y").heatmap(size=SIDE)
        for spent in (spread, Fraction(LARGEST_EPSILON))
    )
    return {"shown": _png(shown), "truth": _png(truth), "sure": _sureness(shown)}


def _sureness(heat: Heatmap) -> float | None:
    """The typical standard deviation where half of the people are, in parts of the value; None if nothing is seen."""
    if heat.std is None:
        return None
    order = np.argsort(-heat.density, axis=None)
    busy = order[: 1 + int(np.searchsorted(np.cumsum(heat.values.ravel()[order]), 0.5))]
    return float(np.median(heat.std.ravel()[busy] / heat.values.ravel()[busy]))


def _png(heat: Heatmap) -> str:
    return f"data:image/png;base64,{base64.b64encode(thumbnail(picture_of(heat), SIDE)).decode('ascii')}"
