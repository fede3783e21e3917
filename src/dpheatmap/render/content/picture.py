"""A map as it is shown on every medium: values in bands, what can be told of them, and the words around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.number_words import plain
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.label import label_of_combination, privacy_label
from dpheatmap.render.content.bands import MOST, Unit, bands_of, bands_of_people, limited_bands
from dpheatmap.render.content.clarity import FIRM, NORMAL_90, TOLD, clarity_of, coarsen, noise_floor
from dpheatmap.render.content.highlights import Spot, area_of_half, busiest
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.numbers import about, area_in_words, ends, epsilon_in_words, length_in_words
from dpheatmap.render.content.resampling import average, extend, is_smooth, resize
from dpheatmap.render.content.slice_names import label_in_words
from dpheatmap.render.content.subject import Subject, subject_of
from dpheatmap.render.content.words import (
    NINE_IN_TEN,
    NO_SIGNAL,
    NOT_PRIVATE,
    OUTSIDE,
    ROUGH,
    UNSURE,
    Card,
    LegendWords,
    ReadingWords,
    Words,
    badge_of,
    combined_in_words,
    counting_in_words,
    date_in_words,
    priors_in_words,
    sentence,
    trust_in_words,
    under,
)

if TYPE_CHECKING:
    from dpheatmap.heatmap.heatmap import Heatmap

Ranges = tuple[Floats, Floats]
Scale = tuple[Unit, list[float]]
"""What values count, and the edges of bands."""

_FIRM_PART = 0.03  # of the map: with less that is firm, only the busiest places can be told
_OVER_A_PICTURE = 8.0  # over a picture, nothing below this part of the top is painted
_FARTHEST = 0.25  # of the map's longer side, the widest smoothing that is tried if nothing stands out


def _no_ranges() -> None:
    return None


@dataclass(frozen=True, eq=False)
class Picture:
    """A map as it is shown.

    ``values`` count what ``unit`` says; changes are ``signed``. Band i begins at ``edges[i]``. ``clarity`` is on a grid
    of its own; None means that it is not known, and that everything is painted. ``hatch`` tells whether what is rough
    is hatched, and ``in_series`` whether the edges are those of several maps. ``ranges`` computes the ends of ranges of
    90 % on a coarse grid, as factors of the values, or as changes if signed.
    """

    domain: Domain
    values: Floats
    unit: Unit
    edges: tuple[float, ...]
    clarity: Floats | None
    words: Words
    label: Mapping[str, str]
    signed: bool = False
    smooth: bool = True
    hatch: bool = False
    in_series: bool = False
    busiest: tuple[Spot, ...] = ()
    ranges: Callable[[], Ranges | None] = field(default=_no_ranges, repr=False)

    @property
    def painted(self) -> bool:
        """Whether anything is painted at all."""
        return self.words.nothing is None

    @property
    def top(self) -> float:
        """The size from which on a gradient has its last colour: the largest, or the last edge of a series."""
        return self.edges[-1] if self.in_series else float(np.abs(self.values).max())

    def at_most(self, pixels: int) -> Picture:
        """Reduce the picture to at most ``pixels`` on the longer side."""
        rows, columns = self.values.shape
        longer = max(rows, columns)
        if longer <= pixels:
            return self
        size = max(1, round(rows * pixels / longer)), max(1, round(columns * pixels / longer))
        return replace(self, values=average(self.values, *size))


def on_one_scale(heats: Iterable[Heatmap], looks: Sequence[Look]) -> list[Picture]:
    """Maps with the bands of the highest value that can be told; each is bare and hatched by its own noise.

    Maps of places of different kinds, as of a city and of an image, keep their own bands. What can be told of a map is
    found before the next one is asked for.
    """
    found = [_finding_of(heat, look) for heat, look in zip(heats, looks, strict=True)]
    scales = [_scale_of(one) for one in found]
    if len({unit.subject.title for unit, _ in scales}) > 1:
        return [_paint(one, scale) for one, scale in zip(found, scales, strict=True)]
    told = [scale for one, scale in zip(found, scales, strict=True) if one.nothing is None]
    common = max(told or scales, key=lambda scale: max(scale[1]) / scale[0].factor)
    return [_paint(one, common, in_series=True) for one in found]


def picture_of(heat: Heatmap, look: Look | None = None) -> Picture:
    """A heatmap as it is shown: of every so many people, how many per area."""
    found = _finding_of(heat, look or Look())
    return _paint(found, _scale_of(found))


@dataclass(frozen=True, eq=False)
class _Finding:
    """What can be told of a heatmap on any scale: where it is above the noise, its busiest places, or nothing."""

    heat: Heatmap
    look: Look
    subject: Subject
    density: Floats
    inside: NDArray[np.bool_]
    clarity: Floats | None
    told: NDArray[np.bool_]
    spots: tuple[Spot, ...]
    nothing: Card | None


def _finding_of(heat: Heatmap, look: Look) -> _Finding:
    density, inside = heat.density, heat.ground > 0.0
    clarity = clarity_of(heat)
    rows, columns = density.shape
    told = inside & (True if clarity is None else resize(clarity, columns, rows) >= TOLD)
    spots = busiest(heat, clarity) if told.any() else ()
    nothing = None if told.any() else _nothing(heat)
    subject = subject_of(heat.domain, look.background, heat.trust.unit)
    return _Finding(heat, look, subject, density, inside, clarity, told, spots, nothing)


def _scale_of(found: _Finding) -> Scale:
    """The bands of a map by itself."""
    heat, density = found.heat, found.density
    top = float(density[found.told].max()) if found.told.any() else float(density.max())
    floor = noise_floor(heat, found.clarity)
    return _bands(found.subject, top, floor, found.look, people=heat.quantity == "people")


def _paint(found: _Finding, scale: Scale, *, in_series: bool = False) -> Picture:
    """The picture of a map on a scale, which may be that of several maps."""
    heat, look, subject, clarity, told = found.heat, found.look, found.subject, found.clarity, found.told
    unit, edges = scale
    values = found.density * unit.factor
    painted = (values >= edges[0]) & told
    firm = painted if clarity is None else painted & (resize(clarity, *told.shape[::-1]) >= FIRM)
    rough = clarity is not None and bool((painted & ~firm).any())
    in_series = in_series or look.limits is not None
    # A map of a series may lie below the first edge, which is not the same as noise.
    few = bool((told if in_series else firm).sum() < _FIRM_PART * found.inside.sum())
    spots, nothing = found.spots, found.nothing
    words = Words(
        title=look.title or (subject.title_of.format(what=look.what) if look.what else subject.title),
        subtitle=look.subtitle or ("" if in_series or heat.slice is None else label_in_words(heat.slice)),
        takeaway=_takeaway(heat, unit, look.what, spots, few=few),
        badge=badge_of(heat.loss, f"per {subject.person}", seeded=heat.seeded),
        warnings=(NOT_PRIVATE,) * heat.seeded,
        facts=_facts(heat, subject, look),
        legend=_legend_words(heat, unit, edges, rough=rough, sure=clarity is not None, nothing=nothing is not None),
        reading=_reading_words(unit, sure=clarity is not None),
        nothing=nothing,
    )
    return Picture(
        heat.domain,
        extend(values, heat.ground),
        unit,
        tuple(edges),
        clarity,
        words,
        _label(heat),
        smooth=is_smooth(heat.domain, heat.sigma, heat.values),
        hatch=rough,
        in_series=in_series,
        busiest=spots,
        ranges=lambda: _ranges(heat),
    )


def _bands(subject: Subject, top: float, floor: float, look: Look, *, people: bool) -> Scale:
    if look.limits is not None:
        return limited_bands(subject, *look.limits, what=look.what, people=people)
    floor = max(floor, top / _OVER_A_PICTURE if look.over_a_picture else 0.0)
    return (bands_of_people if people else bands_of)(subject, top, floor, what=look.what, most=MOST)


def _ranges(heat: Heatmap) -> Ranges | None:
    if heat.uncertainty is None:
        return None
    low, high = heat.uncertainty.relative_interval(0.9)
    return coarsen(low), coarsen(high)


def _takeaway(heat: Heatmap, unit: Unit, what: str, spots: tuple[Spot, ...], *, few: bool) -> str:
    """The sentences above a map: where half of everybody is, and the range of the busiest place."""
    if not spots:
        return NO_SIGNAL
    subject, first = unit.subject, spots[0]
    said = []
    if few and heat.uncertainty is not None:
        said.append("Only the busiest places can be told from the noise.")
    elif subject.half:
        part, whole = area_of_half(heat)
        template = subject.half_of if what else subject.half
        said.append(template.format(what=what, part=_of(part, whole), whole=area_in_words(whole)))
    low, high = (unit.factor * end for end in (first.low, first.high))
    between = " to ".join(ends(low, high)) if heat.uncertainty is not None else f"about {about(high)}"
    near = f", near {first.name}," if first.name else ""
    return " ".join([*said, unit.say(subject.busiest, range=between, near=near)])


def _of(part: float, whole: float) -> str:
    """A part of an area, without its unit if the whole has the same."""
    one, other = area_in_words(part), area_in_words(whole)
    number, _, unit = one.rpartition(" ")
    return number if other.endswith(f" {unit}") else one


def _facts(heat: Heatmap, subject: Subject, look: Look) -> tuple[str, ...]:
    """The small print: how people count, the smoothing, whose data it is, and what else was used."""
    total = ""
    if heat.quantity == "people" and not heat.uniform:
        total = subject.counted.total.format(n=_people_in_words(heat))
    size = ""
    if heat.domain.kind == "image":
        size = f"{plain(heat.domain.extent.x1)} × {plain(heat.domain.extent.y1)} px."
    return tuple(
        fact
        for fact in (
            total or counting_in_words(heat, subject),
            f"Smoothed over about {_rounded_length(heat)}.",
            size,
            *(sentence(fact) for fact in (*trust_in_words(heat), *combined_in_words(heat), *priors_in_words(heat))),
            sentence(f"Data: {look.source}") if look.source else "",
            f"dpheatmap, {date_in_words(heat)}.",
        )
        if fact
    )


def _people_in_words(heat: Heatmap) -> str:
    """The number of all people with its range, or about it."""
    if heat.release is None or heat.method != "posterior":
        return f"about {about(float(heat.values.sum()))}"
    return " to ".join(ends(*heat.release.people.interval(0.9)))


def _rounded_length(heat: Heatmap) -> str:
    return length_in_words(float(f"{heat.sigma:.2g}"), heat.domain)


def _legend_words(
    heat: Heatmap, unit: Unit, edges: list[float], *, rough: bool, sure: bool, nothing: bool
) -> LegendWords:
    if nothing:
        hidden = "Not known: whoever is there is hidden by the noise"
        noise = math.inf
        if heat.std is not None:
            noise = unit.factor * float(
                np.median(NORMAL_90 * (heat.std / heat.pixel_areas[:, None])[heat.ground > 0.0])
            )
        if noise < (unit.base or (math.inf if unit.area is None else float(heat.values.sum()))):
            hidden = unit.say(f"Not known: anything below {unit.subject.reading} would be hidden by the noise",
                              n=f"about {about(noise)}")  # fmt: skip
        return LegendWords(unit.legend, unit.short, "", hidden)
    first = plain(edges[0])
    return LegendWords(
        unit.legend,
        unit.short,
        f"under {first}",
        under(edges[0]) if sure else f"Under {first}",
        ROUGH if rough else "",
        OUTSIDE if heat.domain.geographic else "",
        () if sure else (UNSURE,),
    )


def _reading_words(unit: Unit, *, sure: bool) -> ReadingWords:
    reading = unit.subject.reading
    return ReadingWords(
        range=unit.say(reading, n="{lo} to {hi}"),
        bare=f"{unit.say(reading, n='Under {hi}')}, perhaps none",
        value=unit.say(reading, n="About {v}"),
        sure=NINE_IN_TEN if sure else "",
    )


def _nothing(heat: Heatmap) -> Card:
    """What stands across a map without signal, and what can help; only what was tried is advised."""
    wider = _smoothing_that_helps(heat)
    if wider is not None:
        smoothing = f"Smoothing over {length_in_words(wider, heat.domain)} shows something."
    elif heat.release is None:
        smoothing = ""
    else:
        farthest = length_in_words(float(f"{_FARTHEST * heat.domain.longer_side:.1g}"), heat.domain)
        smoothing = f"Smoothing more does not help here: even at {farthest} nothing stands out."
    return Card(
        "No place stands out from the noise",
        f"There were too few people for so strong a promise (ε = {epsilon_in_words(heat.epsilon)}) and so fine a map. "
        f"What can help is a new release with more people or a larger ε. {smoothing}".strip(),
    )


def _smoothing_that_helps(heat: Heatmap) -> float | None:
    """The least of a few wider smoothings at which something stands out; None if none does."""
    farthest = _FARTHEST * heat.domain.longer_side
    if heat.release is None or heat.uniform:
        return None
    for times in (2.0, 4.0, 8.0, 16.0, 32.0):
        sigma = float(f"{min(times * heat.sigma, farthest):.1g}")
        if sigma <= heat.sigma:
            return None
        wider = heat.release.heatmap(sigma=sigma, size=128, method=heat.method)
        clear = clarity_of(wider)
        if clear is not None and bool((clear >= TOLD).any()):
            return sigma
    return None


def _label(heat: Heatmap) -> Mapping[str, str]:
    """The privacy label of a map, with the releases that its prior was made from."""
    label = label_of_combination(heat, heat.combined) if heat.combined else privacy_label(heat)
    used = priors_in_words(heat)
    return {**label, "priors": f"{'; '.join(used)}."} if used else label
