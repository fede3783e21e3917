"""Areas as they are shown on every medium: a map of their densities in bands, and their numbers by rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from dpheatmap._util.number_words import plain
from dpheatmap.estimate.areas.area_table import VAGUE
from dpheatmap.estimate.areas.named_areas import outlines_of
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.label import privacy_label
from dpheatmap.render.content.bands import SOMEWHERE, Unit, area_for, bands_of, bands_of_people
from dpheatmap.render.content.clarity import FIRM, TOLD
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.numbers import range_in_words
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.subject import Subject, subject_of
from dpheatmap.render.content.words import (
    NINE_IN_TEN,
    NOT_PRIVATE,
    OUTSIDE,
    ROUGH,
    Card,
    LegendWords,
    ReadingWords,
    Words,
    badge_of,
    counting_in_words,
    date_in_words,
    ranges_hold,
    sentence,
    trust_in_words,
    under,
)

if TYPE_CHECKING:
    from dpheatmap.releases.estimable import Estimable

EN_DASH = "\N{EN DASH}"
_PIXELS = 1440  # of the map's width: those of a picture
_TALLEST = 4096
_NAMED_TIES = 4
_LEAST = 0.02  # of the largest density: the first edge is not below this
_OVER_A_PICTURE = 0.125  # the same over a picture
_FEW = 0.1  # of the largest density: the first edge is not above this, whatever the base
_IN_THE_FIRST = 10  # of every so many, at least, are in the area with the most
_USUAL_BASE = 1000


class ShownArea(NamedTuple):
    """An area: its name, its rings on the root square, its number with its range, density and clarity."""

    name: str
    rings: list[Floats]
    value: float
    low: float
    high: float
    density: float
    """Of people or of shares, per square unit of the domain."""
    clarity: float
    """Its value over half of its range: from 1 on it can be told from nothing, from 2 on it is not rough."""
    note: str
    rank: tuple[int, int]
    """Between which places it may be."""

    @property
    def is_told(self) -> bool:
        """Whether it can be told from nothing."""
        return self.clarity >= TOLD

    @property
    def is_rough(self) -> bool:
        """Whether its range reaches more than half of its value to either side."""
        return TOLD <= self.clarity < FIRM

    def times(self, factor: float) -> ShownArea:
        """The area with its number so many times as large, as of every so many instead of a share."""
        return self._replace(value=factor * self.value, low=factor * self.low, high=factor * self.high)

    @property
    def range_in_words(self) -> str:
        """The range of its number, or why there is none."""
        if self.is_told:
            return range_in_words(self.low, self.high, EN_DASH)
        return self.note if VAGUE in self.note else VAGUE

    @property
    def rank_in_words(self) -> str:
        """Between which places it may be; nothing where its number can't be told."""
        first, last = self.rank
        return "" if not self.is_told else str(first) if first == last else f"{first}{EN_DASH}{last}"


@dataclass(frozen=True, eq=False)
class AreaContent:
    """Areas by rank, the first with the most people, and the map of their densities.

    ``counted`` says what their numbers are: people, or of every so many.
    """

    areas: list[ShownArea]
    picture: Picture
    counted: str
    sure: str = NINE_IN_TEN
    """How many of the ranges hold the truth."""

    def sentence_of(self, area: ShownArea) -> str:
        """What is read of an area."""
        if not area.is_told:
            return area.range_in_words[:1].upper() + area.range_in_words[1:]
        told = range_in_words(area.low, area.high)
        return f"{told[:1].upper()}{told[1:]} {self.counted[:1].lower()}{self.counted[1:]}"

    @cached_property
    def bands(self) -> list[int]:
        """The band of each area, -1 for bare ones."""
        edges = np.array(self.picture.edges)
        found = np.searchsorted(edges, [self.picture.unit.factor * area.density for area in self.areas], side="right")
        return [int(band) - 1 if area.is_told else -1 for band, area in zip(found, self.areas, strict=True)]


def content_of_areas(release: Estimable, table: Any, look: Look | None = None, *, values: str = "share") -> AreaContent:
    """A table of areas as it is shown, in shares or in numbers of people."""
    look = look or Look()
    domain, people = release.domain, values == "people"
    sure = ranges_hold(table.attrs.get("confidence", 0.9))
    table = table[table["rank"].notna()]  # nothing is known of what is outside the place
    subject = subject_of(domain, look.background, release.trust.unit)
    areas = _areas(table, domain, people=people)
    told = [area for area in areas if area.is_told]
    unit, edges = _bands(subject, areas, look, people=people)
    base = 1 if people else unit.base or _base(areas)
    areas = [area.times(base) for area in areas]
    counted = _counting(subject, None if people else base)
    number = _numbers(domain, areas)
    density = np.append([area.density for area in areas], 0.0)[number]
    clarity = np.append([area.clarity for area in areas], 0.0)[number]
    rough = any(area.is_rough for area in areas)
    words = Words(
        title=look.title or f"{subject.title}, by area",
        subtitle=look.subtitle,
        takeaway=_takeaway(areas, counted),
        badge=badge_of(release.loss, f"per {subject.person}", seeded=release.seeded),
        warnings=(NOT_PRIVATE,) * release.seeded,
        facts=_facts(release, subject, look),
        legend=_legend(unit, edges[0], domain, rough=rough) if told else _legend_of_nothing(unit),
        reading=ReadingWords("", "", "", sure),
        nothing=None if told else _NOTHING,
    )
    picture = Picture(
        domain, density * unit.factor, unit, tuple(edges), clarity, words, privacy_label(release), smooth=False,
        hatch=rough,
    )  # fmt: skip
    return AreaContent(areas, picture, counted, sure)


_NOTHING = Card(
    "No area stands out from the noise",
    "There were too few people for so strong a promise and so small areas. This does not mean that nobody was there. "
    "What can help is larger areas, or a new release with more people or a larger ε.",
)


def _areas(table: Any, domain: Domain, *, people: bool) -> list[ShownArea]:
    """The areas of a table by rank, in shares or people; those of which nothing can be told are last, in its order."""
    names = ("people", "people_low", "people_high") if people else ("share", "low", "high")
    value, low, high = (table[name].to_numpy(np.float64) for name in names)
    with np.errstate(divide="ignore", invalid="ignore"):
        area = table["people"].to_numpy(np.float64) / table[domain.place.units.density].to_numpy(np.float64)
        density = np.nan_to_num(value / (area * domain.place.units.area), posinf=0.0)
        clarity = np.nan_to_num(value / (0.5 * (high - low)), posinf=10.0)
    rings = outlines_of(table, domain)
    ranks = zip(table["rank_low"].tolist(), table["rank_high"].tolist(), strict=True)
    columns = value.tolist(), low.tolist(), high.tolist(), density.tolist()
    found = [
        ShownArea(str(name), *rest)
        for name, *rest in zip(
            table["area"], rings, *columns, clarity.tolist(), table["note"].tolist(), ranks, strict=True
        )
    ]
    return sorted(found, key=lambda each: (not each.is_told, -each.value if each.is_told else 0.0))


def _counting(subject: Subject, base: int | None) -> str:
    """What the numbers of areas are: people, or of every so many."""
    if base is not None:
        return f"Of every {plain(base)} {subject.things}"
    return "People" if subject.person == "person" else f"{subject.person[:1].upper()}{subject.person[1:]}s"


def _base(areas: list[ShownArea]) -> int:
    """Of every how many: the power of ten from 100 on of which the area with the most has ten or more."""
    first = max((area.value for area in areas if area.is_told), default=1.0)
    return int(10 ** min(max(2, math.ceil(math.log10(_IN_THE_FIRST / first))), 9))


def _bands(subject: Subject, areas: list[ShownArea], look: Look, *, people: bool) -> tuple[Unit, list[float]]:
    """The unit and the edges of the map; its base is that of the areas' shares, too."""
    shown = [area.density for area in areas if area.is_told] or [area.density for area in areas]
    top = max(shown, default=0.0) or 1e-30
    floor = (_OVER_A_PICTURE if look.over_a_picture else _LEAST) * top
    if people:
        return bands_of_people(subject, top, floor, what=look.what)
    base = _base(areas)
    area = area_for(subject, top, min(SOMEWHERE, _IN_THE_FIRST / base))
    if area is not None:
        whole = 1.0 / (max(base, _USUAL_BASE) * area.size)
        floor = max(floor, min(whole, _FEW * top))
    return bands_of(subject, top, floor, what=look.what, same=area, least_base=base)


def _numbers(domain: Domain, areas: list[ShownArea]) -> NDArray[np.intp]:
    """The number of the area that each pixel of the map lies in, -1 in none; small areas lie over large ones."""
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    columns = _PIXELS
    rows = min(_TALLEST, max(1, round(columns * finest.rows / finest.columns)))
    number = np.full((rows, columns), -1, np.intp)
    scale = np.array([columns / finest.columns, rows / finest.rows])
    corner = np.array([finest.x0, finest.y0])
    placed = [[(ring * whole - corner) * scale for ring in area.rings] for area in areas]
    for k in sorted(range(len(areas)), key=lambda k: -sum(abs(_size(ring)) for ring in placed[k])):
        _paint_number(number, placed[k], k)
    return number


def _paint_number(number: NDArray[np.intp], rings: list[Floats], k: int) -> None:
    """Write a number into the pixels inside of rings, of which holes run the other way round."""
    if not rings:
        return
    points = np.concatenate(rings)
    rows, columns = number.shape
    left, top = (max(0, math.floor(at)) for at in points.min(axis=0).tolist())
    right, bottom = (
        min(limit, math.ceil(at)) for at, limit in zip(points.max(axis=0).tolist(), (columns, rows), strict=True)
    )
    if right <= left or bottom <= top:
        return
    mask = Image.new("1", (right - left, bottom - top))
    draw = ImageDraw.Draw(mask)
    for ring in sorted(rings, key=lambda ring: -abs(_size(ring))):
        draw.polygon((ring - [left, top]).ravel().tolist(), fill=int(_size(ring) > 0))
    inside = np.asarray(mask, np.bool_)
    number[top:bottom, left:right][inside] = k


def _size(ring: Floats) -> float:
    """Twice the area inside a closed ring, negative for that of a hole."""
    return float(np.sum((ring[:-1, 0] + ring[1:, 0]) * np.diff(ring[:, 1])))


def _takeaway(areas: list[ShownArea], counted: str) -> str:
    """Who is first, or who may be: all whose ranges reach that of the first."""
    counted = counted[:1].lower() + counted[1:]
    told = [area for area in areas if area.is_told]
    if not told:
        return "No area stands out from the noise. This does not mean that nobody was there."
    first = told[0]
    tied = [area.name for area in told if area.high >= first.low]
    if len(tied) == 1:
        return f"{first.name} is clearly first, with {range_in_words(first.low, first.high)} {counted}."
    shown = tied if len(tied) <= _NAMED_TIES else [*tied[: _NAMED_TIES - 1], f"{len(tied) - _NAMED_TIES + 1} others"]
    together = f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{together} lead. Their ranges overlap, so which of them is first is not certain."


def _legend(unit: Unit, first: float, domain: Domain, *, rough: bool) -> LegendWords:
    over_area = ", on average over the area"
    title = unit.legend.removesuffix(" here") + over_area
    return LegendWords(
        title,
        unit.short,
        f"under {plain(first)}",
        under(first),
        ROUGH if rough else "",
        OUTSIDE if domain.geographic else "",
    )


def _legend_of_nothing(unit: Unit) -> LegendWords:
    return LegendWords(unit.legend, unit.short, "", "Not known: whoever is there is hidden by the noise")


def _facts(release: Estimable, subject: Subject, look: Look) -> tuple[str, ...]:
    facts = (
        counting_in_words(release, subject),
        "Somebody who is in several areas counts in parts.",
        *(sentence(fact) for fact in trust_in_words(release)),
        sentence(f"Data: {look.source}") if look.source else "",
        f"dpheatmap, {date_in_words(release)}.",
    )
    return tuple(fact for fact in facts if fact)
