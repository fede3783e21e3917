"""Preview of a release on generated people of the stated number: no data is read.

A preview of people's own rows would be a release, at three epsilons three of them, and nobody would have paid. So its
people are invented from the place and a stated number alone; no function here takes a table.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpheatmap._util.parameters import LARGEST_EPSILON
from dpheatmap.app.texts import say, without_commands
from dpheatmap.curator import aggregate, release
from dpheatmap.design.shares import exact_text
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Domain
from dpheatmap.planning.plans import Plan, plan
from dpheatmap.planning.slice_plans import SlicePlan, plan_slices
from dpheatmap.releases.label import odds_in_words
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, on_one_scale
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.slicing.axis import Axis
from dpheatmap.testing import generated_people

MOST = 50_000
"""The most people generated; beyond, epsilon is raised instead, since quality depends on people times epsilon."""

MOST_SIGNAL = 20_000
"""The most people times epsilon that is drawn: beyond, a map is good anyway and takes ever longer to compute."""

BESIDE = 5
"""The factor by which the epsilons beside the chosen one are stronger and weaker."""

SIDE = 256
DRAWS = 40  # of the posterior: enough for one typical number and a small picture


def plan_in_words(domain: Domain, epsilon: Fraction, users: int, axis: Axis | None = None) -> dict[str, Any]:
    """The plan in plain words; with slices, that of the map that they share, and how they are measured."""
    made, slices = _plans(domain, epsilon, users, axis)
    return {
        "epsilon": exact_text(epsilon),
        "beside": [exact_text(each) for each in (epsilon / BESIDE, epsilon, epsilon * BESIDE)],
        "odds": odds_in_words(epsilon),
        "chance": float(1 / (1 + np.exp(-min(float(epsilon), 700.0)))),
        "caution": made.caution,
        "advice": made.advice,
        "error": domain.length_in_words(made.expected_emd * domain.longer_side),
        "slices": _slices_in_words(slices, axis),
    }


def map_to_preview(domain: Domain, epsilon: Fraction, users: int, axis: Axis | None = None) -> tuple[Fraction, int]:
    """The epsilon and the people of the map to preview: of all slices of time together, or of one of them."""
    made, _ = _plans(domain, epsilon, users, axis)
    return made.epsilon, made.users


def _plans(domain: Domain, epsilon: Fraction, users: int, axis: Axis | None) -> tuple[Plan, SlicePlan | None]:
    """The plan of a map, and of slices of time, if there are several; groups are measured each by itself."""
    times = 1 if axis is None else len(axis.times)
    if times == 1:
        return plan(domain, epsilon=epsilon, users=users), None
    slices = plan_slices(domain, epsilon=epsilon, users=users, slices=times)
    return slices.map, slices


def _slices_in_words(slices: SlicePlan | None, axis: Axis | None) -> list[str]:
    of_groups = [say("plan_of_groups", number=len(axis.groups))] if axis is not None and axis.groups else []
    if slices is None:
        return of_groups
    which = say("plan_of_slice") if slices.how == "apart" else say("plan_of_slices", number=slices.slices)
    return [*of_groups, which, without_commands(" ".join(slices.sentences))]


@lru_cache(maxsize=16)
def preview(domain: Domain, epsilon: Fraction, users: int) -> dict[str, Any]:
    """Maps of generated people, true and as released, and the uncertainty of the released map at busy places."""
    users = max(1, min(users, int(MOST_SIGNAL / epsilon)))
    people = min(users, MOST)
    counts = aggregate(generated_people(people, extent=domain.extent), domain, user="person", x="x", y="y")
    made = release(counts, epsilon=min(epsilon * Fraction(users, people), Fraction(LARGEST_EPSILON)))
    shown = made.heatmap(size=SIDE)
    truth = replace(shown, values=smooth(true_distribution(counts), shown.sigma, SIDE), uncertainty=None, uniform=False)
    drawn = on_one_scale([truth, _roughly(shown)], [Look(), Look()])
    return {"truth": _png(drawn[0]), "shown": _png(drawn[1]), "sure": _sureness(shown)}


def _roughly(heat: Heatmap) -> Heatmap:
    """A map whose uncertainty is known well enough for a small picture."""
    return heat if heat.uncertainty is None else replace(heat, uncertainty=replace(heat.uncertainty, count=DRAWS))


def _sureness(heat: Heatmap) -> float | None:
    """The typical relative standard deviation where half of the people are; None if nothing rises above the noise."""
    if heat.uncertainty is None:
        return None
    rough = _roughly(heat).uncertainty
    assert rough is not None
    order = np.argsort(-heat.density, axis=None)
    busy = order[: 1 + int(np.searchsorted(np.cumsum(heat.values.ravel()[order]), 0.5))]
    return float(np.median(rough.relative_std.ravel()[busy]))


def _png(picture: Picture) -> str:
    return f"data:image/png;base64,{base64.b64encode(thumbnail(picture, SIDE)).decode('ascii')}"
