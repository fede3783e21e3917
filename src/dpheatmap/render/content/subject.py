"""What a map is about, in words: people on the ground, viewers of an image, players on a pitch, mass on a square."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, NamedTuple

from dpheatmap.place.domain import Domain
from dpheatmap.releases.trust import PERSON

PITCH_LENGTH, PITCH_WIDTH = 105.0, 68.0
"""The size of a pitch in metres, as most grounds have."""

_PITCH = "pitch"  # the name of the background


class Area(NamedTuple):
    """An area that densities are told for: its size in the domain's square units, and its names."""

    size: float
    long: str
    """Its name in a legend: "a square kilometre"."""
    short: str
    """Its name after a number: "km²"."""


class Counted(NamedTuple):
    """The words of a kind of place where numbers of people are shown instead of shares."""

    legend: str
    short: str
    reading: str
    busiest: str
    total: str


class Subject(NamedTuple):
    """The words for a kind of place; ``{what}`` stands for what people did there, if that was told."""

    title: str
    title_of: str
    things: str
    """What is counted, of every so many."""
    things_of: str
    legend: str
    short: str
    reading: str
    """A range as one reads it off the map: ``{n}`` is what stands before."""
    half: str
    half_of: str
    busiest: str
    counting: str
    """How each person counts."""
    person: str
    areas: tuple[Area, ...]
    counted: Counted

    @property
    def in_people(self) -> Subject:
        """The words for numbers of people."""
        legend, short, reading, busiest, _ = self.counted
        areas = self.areas or (Area(0.01, "a hundredth of the square", "1 % of the square"),)
        return self._replace(legend=legend, short=short, reading=reading, busiest=busiest, areas=areas)

    def of(self, unit: str) -> Subject:
        """The words where another unit than the person is protected, such as a trip: that is then what is counted."""
        if unit == PERSON:
            return self
        alike = self._replace(person=unit, counting=f"Each {unit} counts the same, however many points it has.")
        if unit == "row":  # the maker says that every row is another person's
            return alike
        people = "people" if self.person == PERSON else f"{self.person}s"
        words = {f"{people}'s": f"{unit}s'", people: f"{unit}s", "somebody who": f"a {unit} that"}

        def swap(text: str) -> str:
            for old, new in words.items():
                text = text.replace(old, new).replace(old.capitalize(), new.capitalize())
            return text

        texts: dict[str, Any] = {name: swap(text) for name, text in alike._asdict().items() if isinstance(text, str)}
        return alike._replace(**texts, counted=Counted(*map(swap, self.counted)))

    def things_in_words(self, what: str) -> str:
        """What is counted."""
        return self.things_of.format(what=what) if what else self.things


_EVERY = "Of every {base} {things}, how many"

GROUND = Subject(
    title="Where people are",
    title_of="Where people's {what} are",
    things="people",
    things_of="people",
    legend=_EVERY + " are in {area} here",
    short=_EVERY + " per {area}",
    reading="{n} of every {base} people per {area}",
    half="Half of the people are in about {part} of {whole}.",
    half_of="Half of people's {what} are in about {part} of {whole}.",
    busiest="The busiest place{near} has {range} of every {base} people per {area}.",
    counting="Each person counts the same, however often they were seen.",
    person="person",
    areas=(
        Area(1e0, "a square metre", "m²"),
        Area(1e2, "a square of 10 × 10 m", "10 × 10 m"),
        Area(1e4, "a square of 100 × 100 m", "100 × 100 m"),
        Area(1e6, "a square kilometre", "km²"),
        Area(1e8, "100 square kilometres", "100 km²"),
        Area(1e10, "10,000 square kilometres", "10,000 km²"),
        Area(1e12, "a million square kilometres", "million km²"),
    ),
    counted=Counted(
        "How many people are in {area} here",
        "People per {area}",
        "{n} people per {area}",
        "The busiest place{near} has {range} people per {area}.",
        "There are {n} people in all; somebody who is in several places counts in parts.",
    ),
)

IMAGE = Subject(
    title="Where people looked",
    title_of="Where people's {what} fall",
    things="looks",
    things_of="{what}",
    legend=_EVERY + " fall in {area} here",
    short="Of every {base} {things}, per {area}",
    reading="{n} of every {base} {things} per {area}",
    half="",
    half_of="",
    busiest="The most watched square of {area} gets {range} of every {base} {things}.",
    counting="Each viewer counts the same, however long they looked.",
    person="viewer",
    areas=(
        Area(1e0, "a pixel", "pixel"),
        Area(1e2, "a square of 10 × 10 pixels", "10 × 10 px"),
        Area(1e4, "a square of 100 × 100 pixels", "100 × 100 px"),
        Area(1e6, "a square of 1,000 × 1,000 pixels", "1,000 × 1,000 px"),
    ),
    counted=Counted(
        "How many viewers, each shared out over where they looked, {area} gets here",
        "Viewers per {area}",
        "{n} viewers per {area}",
        "The most watched square of {area} gets as many looks as {range} viewers have.",
        "There are {n} viewers in all, each shared out over where they looked.",
    ),
)

FOOTBALL = Subject(
    title="Where players were",
    title_of="Where players' {what} come from",
    things="moments",
    things_of="{what}",
    legend=_EVERY + " are in {area} here",
    short="Of every {base} {things}, per {area}",
    reading="{n} of every {base} {things} per {area}",
    half="",
    half_of="",
    busiest="The best-used square of {area} has {range} of every {base} {things}.",
    counting="Each player counts the same.",
    person="player",
    areas=(Area(100.0, "a square of 10 × 10 m", "10 × 10 m"),),
    counted=Counted(
        "How many players, each shared out over where they were, {area} has here",
        "Players per {area}",
        "{n} players per {area}",
        "The best-used square of {area} has {range} players.",
        "There are {n} players in all, each shared out over where they were.",
    ),
)

SQUARE = Subject(
    title="Where the mass is",
    title_of="Where the {what} are",
    things="people",
    things_of="{what}",
    legend="How many times denser than even",
    short="times even",
    reading="{n} times the even share",
    half="",
    half_of="",
    busiest="The densest place has {range} times the even share.",
    counting="Each person counts the same.",
    person="person",
    areas=(),
    counted=Counted(
        "How many people are in {area} here",
        "People per {area}",
        "{n} people per {area}",
        "The densest place has {range} people per {area}.",
        "There are {n} people in all; somebody who is in several places counts in parts.",
    ),
)


def is_pitch(background: str | PathLike[str] | None) -> bool:
    """Whether a background is a football pitch."""
    return background is not None and fspath(background) == _PITCH


def subject_of(domain: Domain, background: str | PathLike[str] | None = None, unit: str = PERSON) -> Subject:
    """The words for a domain and for what is protected; a pitch under the heat makes it football."""
    return _kind_of_place(domain, background).of(unit)


def _kind_of_place(domain: Domain, background: str | PathLike[str] | None) -> Subject:
    if is_pitch(background):
        width, height = domain.extent[2:]
        square_metre = width * height / (PITCH_LENGTH * PITCH_WIDTH)
        return FOOTBALL._replace(areas=tuple(area._replace(size=area.size * square_metre) for area in FOOTBALL.areas))
    return GROUND if domain.geographic else IMAGE if domain.place.units.areas else SQUARE
