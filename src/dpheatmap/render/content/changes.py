"""A difference as it is shown: where there are more people, where fewer, and where no change can be told."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap._util.number_words import plain
from dpheatmap.place.domain import Floats
from dpheatmap.releases.label import privacy_label
from dpheatmap.render.content.bands import area_for, bands_of
from dpheatmap.render.content.clarity import MOST_CLEAR, NORMAL_90, coarsen, without_crumbs
from dpheatmap.render.content.numbers import area_in_words, length_in_words
from dpheatmap.render.content.picture import Picture, Ranges
from dpheatmap.render.content.resampling import extend, is_smooth, resize
from dpheatmap.render.content.subject import Subject, subject_of
from dpheatmap.render.content.words import (
    NINE_IN_TEN,
    NOT_PRIVATE,
    UNSURE,
    Card,
    LegendWords,
    ReadingWords,
    Words,
    badge_of,
    date_in_words,
    promise_in_words,
    sentence,
)

if TYPE_CHECKING:
    from dpheatmap.heatmap.differences import Difference
    from dpheatmap.render.content.look import Look

_BANDS = 4  # on either side
_CANT_TELL = "No change can be told from the noise."
_LEAST = 0.05  # of the largest change: the first edge is not below this


def picture_of_difference(change: Difference, look: Look | None = None) -> Picture:
    """A difference as it is shown: people per area, more or fewer."""
    subject = subject_of(change.domain, look.background if look else None, change.after.trust.unit)
    inside = change.after.ground > 0.0
    values = change.after.density - change.before.density
    clarity = _clarity(change)
    rows, columns = values.shape
    told = inside & (True if clarity is None else resize(clarity, columns, rows) >= 1.0)
    top = float(np.abs(values[told] if told.any() else values).max()) or 1.0
    shared = area_for(subject, float(max(change.before.density.max(), change.after.density.max())))
    unit, edges = bands_of(subject, top, _LEAST * top, most=_BANDS, same=shared)
    shown = values * unit.factor
    painted = told & (np.abs(shown) >= edges[0])
    before, after = change.names
    nothing = None
    if not painted.any():
        nothing = Card(
            "No change stands out from the noise",
            "This does not mean that nothing changed. What can help is more people, a larger ε or more smoothing.",
        )
    words = Words(
        title=(look and look.title)
        or (f"{before[:1].upper()}{before[1:]} and {after}: what changed" if change.named else "What changed"),
        subtitle=look.subtitle if look else "",
        takeaway=_takeaway(change, subject, shown, painted),
        badge=badge_of(
            change.loss,
            f"per {change.after.trust.unit} for both maps",
            seeded=change.before.seeded or change.after.seeded,
        ),
        warnings=(NOT_PRIVATE,) * (change.before.seeded or change.after.seeded),
        facts=_facts(change, look.source if look else ""),
        legend=LegendWords(
            title=f"Change in how many of every {plain(unit.base)} {subject.things} are in {unit.area.long}"
            if unit.base is not None and unit.area is not None
            else "Change, in times the even share",
            short=unit.short,
            under="can't tell" if clarity is not None else f"under {plain(edges[0])}",
            bare="No change that can be told from the noise" if clarity is not None else f"Under {plain(edges[0])}",
            notes=() if clarity is not None else (UNSURE,),
            less=f"← Fewer {after}" if change.named else "← Fewer than before",
            more=f"More {after} →" if change.named else "More than before →",
        ),
        reading=ReadingWords(
            range=unit.say(subject.reading, n="{lo} to {hi}"),
            bare=_CANT_TELL,
            value=unit.say(subject.reading, n="About {v}"),
            sure=NINE_IN_TEN if clarity is not None else "",
            cant_tell=_CANT_TELL,
        ),
        nothing=nothing,
    )
    return Picture(
        change.domain,
        extend(shown, change.after.ground),
        unit,
        tuple(edges),
        clarity,
        words,
        _label(change),
        signed=True,
        smooth=is_smooth(change.domain, change.after.sigma, values),
        ranges=lambda: _ranges(change, unit.factor),
    )


def _clarity(change: Difference) -> Floats | None:
    """How far changes lie beyond the least that stands out, from 1 on; None if their uncertainty is not known."""
    std = change.std
    if std is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(change.values) / std, nan=0.0, posinf=1e9)
    clear = change.significant()
    least = float(strength[clear].min()) if clear.any() else math.inf
    field = coarsen(np.minimum(strength / least, MOST_CLEAR))
    return without_crumbs(field, change.sigma, change.domain)


def _ranges(change: Difference, factor: float) -> Ranges | None:
    std, ground = change.std, change.after.ground
    if std is None:
        return None
    half = NORMAL_90 * std
    per_area = factor / np.where(ground > 0.0, ground, np.inf)
    low, high = (extend(per_area * end, ground) for end in (change.values - half, change.values + half))
    return coarsen(low), coarsen(high)


def _takeaway(change: Difference, subject: Subject, shown: Floats, painted: np.ndarray) -> str:
    if not painted.any():
        return _CANT_TELL
    before, after = change.names
    then = f"{after[:1].upper()}{after[1:]} there are more {subject.things} than {before}" if change.named else ""
    then = then or f"There are more {subject.things} than before"
    areas, every = change.after.ground, np.ones_like(painted)
    more, fewer, whole = (float(areas[part].sum()) for part in (painted & (shown > 0), painted & (shown < 0), every))
    if change.domain.geographic:
        where = [area_in_words(part) if part else "no place" for part in (more, fewer)]
        rest = f"In the rest of the {area_in_words(whole)} no change can be told from the noise."
        return f"{then} in {where[0]}, fewer in {where[1]}. {rest}"
    parts = (f"{100 * part / whole:.0f} %" for part in (more, fewer))
    return (
        f"{then} in {next(parts)} of the area, fewer in {next(parts)}. Elsewhere no change can be told from the noise."
    )


def _facts(change: Difference, source: str) -> tuple[str, ...]:
    before, after = change.names
    promises = [
        f"{name[:1].upper()}{name[1:]}: {promise_in_words(heat)} per {heat.trust.unit}, {date_in_words(heat)}."
        for name, heat in ((before, change.before), (after, change.after))
    ]
    if change.of_one_release:
        one = change.after
        each = f"{promise_in_words(one)} per {one.trust.unit}"
        promises = [f"Both are slices of one release: {each}, {date_in_words(one)}."]
    told = "Coloured: changes larger than the noise; about 5 in 100 coloured places are noise all the same."
    return (
        *((told,) if change.std is not None else ()),
        f"Smoothed over about {length_in_words(float(f'{change.sigma:.2g}'), change.domain)}.",
        *promises,
        *((sentence(f"Data: {source}"),) if source else ()),
        "dpheatmap.",
    )


def _label(change: Difference) -> dict[str, str]:
    """The privacy label of both releases together."""
    after, before = change.after, change.before
    both = tuple(zip(change.names, (before, after), strict=True))
    weaker = before if after.trust.who == "nobody" else after  # the promise is stronger where nobody is trusted
    together = replace(weaker, loss=change.loss, seeded=before.seeded or after.seeded)
    label = dict(privacy_label(together))
    if change.of_one_release:
        return label
    epsilons = " and ".join(f"{name} with {promise_in_words(heat)}" for name, heat in both)
    for part in ("trusted", "not_promised"):
        if (before.trust, before.noise) != (after.trust, after.noise):
            label[part] = " ".join(f"{name}: {privacy_label(heat)[part]}" for name, heat in both)
    label["how_strongly"] = (
        f"Made from the maps {epsilons}; for people who are in both, they add up. {label['how_strongly']}"
    )
    return label
