"""The words around a map: title, takeaway, legend, small print and badge, the same on every medium."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from dpheatmap._util.number_words import plain
from dpheatmap.design.privacy_loss import ConcentratedLoss, PrivacyLoss
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.releases.estimable import Estimable
from dpheatmap.releases.release_slice import Slice
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render.content.numbers import epsilon_in_words
from dpheatmap.render.content.subject import Subject

NOT_PRIVATE = "Not private: made with a seed, for tests only"
NO_SIGNAL = "No place stands out from the noise. This does not mean that nobody was there."
ROUGH = "Rough: may be off by half or more"
OUTSIDE = "Outside the line nothing was counted"
UNSURE = "How sure this is, is not known."
NO_BREAK = "\N{NO-BREAK SPACE}"
NINE_IN_TEN = "About 9 in 10 such ranges hold the truth"

_INSIDE_QUANTITY = re.compile(r"(?<=\d) (?=(?:k?m²?|px|pixels|%|×)(?!\w))|(?<=×) (?=\d)")


@dataclass(frozen=True)
class LegendWords:
    """The words of a legend; ``less`` and ``more`` stand at the ends of a scale of changes."""

    title: str
    short: str
    under: str
    bare: str
    rough: str = ""
    outside: str = ""
    notes: tuple[str, ...] = ()
    less: str = ""
    more: str = ""


@dataclass(frozen=True)
class ReadingWords:
    """What a reader is told about one place; ``{lo}``, ``{hi}`` and ``{v}`` stand for numbers."""

    range: str
    bare: str
    value: str
    sure: str
    outside: str = "Nothing was counted here"
    cant_tell: str = ""


@dataclass(frozen=True)
class Card:
    """What stands across a map that shows nothing."""

    heading: str
    text: str


@dataclass(frozen=True)
class Words:
    """All words around a map; ``facts`` are the sentences of the small print."""

    title: str
    subtitle: str
    takeaway: str
    badge: str
    warnings: tuple[str, ...]
    facts: tuple[str, ...]
    legend: LegendWords
    reading: ReadingWords
    nothing: Card | None = None


def ranges_hold(confidence: float) -> str:
    """How many ranges hold the truth, of ten if that is exact.

    >>> ranges_hold(0.9), ranges_hold(0.99)
    ('About 9 in 10 such ranges hold the truth', 'About 99 in 100 such ranges hold the truth')
    """
    base = next((base for base in (10, 100) if abs(confidence * base - round(confidence * base)) < 1e-9), 1000)
    return f"About {min(max(round(confidence * base), 1), base - 1)} in {base} such ranges hold the truth"


def keep_units(words: Words) -> Words:
    """The words as they are drawn: no line ends between a number and its unit."""
    kept: Words = _keep_units(words)
    return kept


def _keep_units(part: Any) -> Any:
    """A text, or what consists of texts, with no-break spaces inside quantities.

    >>> _keep_units(("in 3 of 206 km²", "10 × 10 m, 5 months"))
    ('in 3 of 206\\xa0km²', '10\\xa0×\\xa010\\xa0m, 5 months')
    """
    if isinstance(part, str):
        return _INSIDE_QUANTITY.sub(NO_BREAK, part)
    if isinstance(part, tuple):
        return tuple(map(_keep_units, part))
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{field.name: _keep_units(getattr(part, field.name)) for field in fields(part)})
    return part


def under(first: float) -> str:
    """What is left bare: below the first edge, or too little to be told."""
    return f"Under {plain(first)}, or too few to tell from the noise"


def badge_of(loss: PrivacyLoss, whose: str, *, seeded: bool) -> str:
    """The privacy promise in short, or that there is none."""
    delta = f", δ = {epsilon_in_words(loss.delta)}" if loss.delta else ""
    return "Not private" if seeded else f"Private · ε = {epsilon_in_words(loss.epsilon)}{delta} {whose}"


def warnings_of(made: Heatmap | Estimable, *, empty: bool) -> tuple[str, ...]:
    """The warnings of a file; ``empty`` means that nothing rose above the noise."""
    return (NOT_PRIVATE,) * made.seeded + (NO_SIGNAL,) * empty


def promise_in_words(made: Heatmap | Estimable) -> str:
    """Epsilon, and delta if there is one; before them rho, if they are a reading of it."""
    loss = made.loss
    rho = [f"rho = {epsilon_in_words(loss.rho)}"] if isinstance(loss, ConcentratedLoss) else []
    delta = [f"delta = {epsilon_in_words(loss.delta)}"] if loss.delta else []
    return ", ".join([*rho, f"epsilon = {epsilon_in_words(loss.epsilon)}", *delta])


def trust_in_words(made: Heatmap | Estimable) -> tuple[str, ...]:
    """Who was trusted if there was no curator."""
    trusted = {"shuffler": "a shuffler", "servers": f"one of {made.noise.summed} servers", "nobody": "nobody"}
    return (f"trusted: {trusted[made.trust.who]}",) if made.trust.collected else ()


def counting_in_words(made: Heatmap | Estimable, subject: Subject) -> str:
    """How each person counts on a map. A slice's map does not know how the release is split."""
    if isinstance(made, Slice):
        return counting_in_slices(made.release, subject.person)
    if isinstance(made, Heatmap) and made.slice is not None:
        return f"Each {subject.person} counts at most once in a slice."
    return subject.counting


def counting_in_slices(release: SlicedRelease, person: str) -> str:
    """How each person counts in slices."""
    if release.split == "epsilon":
        return f"Each {person} counts up to once in each slice."
    return f"Each {person} counts once over all slices, in parts if seen in several."


def combined_in_words(made: Heatmap | Estimable) -> tuple[str, ...]:
    """Each release that a map combines, with its privacy loss."""
    used = () if isinstance(made, Estimable) else made.combined
    return tuple(f"combines a release with {promise_in_words(each)}, {each.made:%Y-%m-%d}" for each in used)


def priors_in_words(made: Heatmap | Estimable) -> tuple[str, ...]:
    """Each earlier release that the map's prior was made from, with its privacy loss."""
    used = () if isinstance(made, Estimable) else made.priors
    return tuple(f"prior: a release with {promise_in_words(each)}, {each.made:%Y-%m-%d}" for each in used)


def sentence(text: str) -> str:
    """A text with a capital letter first and a full stop last.

    >>> sentence("trusted: nobody")
    'Trusted: nobody.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def date_in_words(made: Heatmap | Estimable) -> str:
    """When a release was made, as people write it.

    >>> import datetime, types
    >>> date_in_words(types.SimpleNamespace(made=datetime.date(2026, 11, 6)))
    '6\\xa0Nov\\xa02026'
    """
    return f"{made.made.day}{NO_BREAK}{made.made:%b}{NO_BREAK}{made.made:%Y}"
