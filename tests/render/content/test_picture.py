"""What maps say: titles, takeaways, legends, small print and badges, for every kind of place and state of knowledge."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import dpheatmap as dph
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.heatmap.differences import Difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.numbers import ends
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.content.words import NO_SIGNAL, NOT_PRIVATE, Words
from dpheatmap.testing import generated_people, seeded_release
from render.conftest import CITY, KINDS, PITCH, SCREEN, bell, every_kind, heat_of

SQUARE = KINDS["unit square"]
FORBIDDEN = re.compile(
    "±|linear|logarithmic|standard deviation|density|\N{GREEK SMALL LETTER SIGMA}|posterior|[0-9]e[+-]?[0-9]", re.I
)


def all_words(words: Words) -> list[str]:
    """Every text that a reader may see."""
    legend, reading, card = words.legend, words.reading, words.nothing
    return [
        words.title, words.subtitle, words.takeaway, words.badge, *words.warnings, *words.facts,
        legend.title, legend.short, legend.under, legend.bare, legend.rough, legend.outside, *legend.notes, legend.less,
        legend.more, reading.range, reading.bare, reading.value, reading.sure, reading.outside, reading.cant_tell,
        *((card.heading, card.text) if card else ()),
    ]  # fmt: skip


def busiest_of(picture: Picture) -> str:
    """The range of the busiest place as it is to be told."""
    first = picture.busiest[0]
    return " to ".join(ends(picture.unit.factor * first.low, picture.unit.factor * first.high))


@pytest.fixture(scope="module")
def few() -> Release:
    """Twelve people, who can't be told from the noise; yet the map is not uniform."""
    people = generated_people(12)
    return seeded_release(people, Domain.unit(6), seed=3, epsilon="0.1", user="person", x="x", y="y")


# By kind of place


def test_words_on_the_ground() -> None:
    picture = picture_of(bell(CITY, sigma=453.0))
    words, base = picture.words, f"{picture.unit.base:,}"
    assert words.title == "Where people are"
    assert re.fullmatch(
        rf"Half of the people are in about [\d.]+ of [\d.]+ km²\. The busiest place, near [\w\s]+, has "
        rf"{busiest_of(picture)} of every {base} people per km²\.",
        words.takeaway,
    )
    assert words.legend.title == f"Of every {base} people, how many are in a square kilometre here"
    first = f"{picture.edges[0]:.0f}"
    assert words.legend.under == f"under {first}"
    assert words.legend.bare == f"Under {first}, or too few to tell from the noise"
    assert words.legend.outside == "Outside the line nothing was counted"
    assert words.legend.notes == ()
    assert words.reading.range == f"{{lo}} to {{hi}} of every {base} people per km²"
    assert words.reading.bare == f"Under {{hi}} of every {base} people per km², perhaps none"
    assert words.reading.sure == "About 9 in 10 such ranges hold the truth"
    assert words.badge == "Private · ε = 1/3 per person"
    assert words.facts == (
        "Each person counts the same, however often they were seen.", "Smoothed over about 450 m.",
        "dpheatmap, 31\xa0Jan\xa02026.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("domain", "background", "title", "takeaway", "person", "counting"),
    [
        (SCREEN, None, "Where people looked", "The most watched square of {area} gets {range} of every {base} looks.",
         "viewer", "Each viewer counts the same, however long they looked."),
        (PITCH, "pitch", "Where players were", "The best-used square of 10 × 10 m has {range} of every {base} moments.",
         "player", "Each player counts the same."),
        (SQUARE, None, "Where the mass is", "The densest place has {range} times the even share.", "person",
         "Each person counts the same."),
    ],
)  # fmt: skip
def test_words_by_kind_of_place(
    domain: Domain, background: str | None, title: str, takeaway: str, person: str, counting: str
) -> None:
    picture = picture_of(bell(domain), Look(background=background))
    area = picture.unit.area.short if picture.unit.area else ""
    base = f"{picture.unit.base or 0:,}"
    assert picture.words.title == title
    assert picture.words.takeaway == takeaway.format(area=area, range=busiest_of(picture), base=base)
    assert picture.words.badge == f"Private · ε = 1/3 per {person}"
    assert picture.words.facts[0] == counting
    assert picture.words.legend.outside == ""
    assert ("64 × 48 px." in picture.words.facts) == (domain is SCREEN)


@pytest.mark.parametrize(
    ("domain", "background", "title", "things"),
    [
        (CITY, None, "Where people's shots are", "Half of people's shots are in about"),
        (SCREEN, None, "Where people's shots fall", "every {base} shots"),
        (PITCH, "pitch", "Where players' shots come from", "every {base} shots"),
        (SQUARE, None, "Where the shots are", "the even share"),
    ],
)
def test_what_people_did_is_told(domain: Domain, background: str | None, title: str, things: str) -> None:
    picture = picture_of(bell(domain), Look(background=background, what="shots"))
    assert picture.words.title == title
    assert things.format(base=f"{picture.unit.base:,}" if picture.unit.base else "") in picture.words.takeaway


@every_kind
def test_the_maker_of_a_map_has_the_first_word(domain: Domain) -> None:
    look = Look(title="Bikes {n}", subtitle="In June, {all}", source="the town's own", what="{rides}")
    words = picture_of(bell(domain), look).words
    assert (words.title, words.subtitle) == ("Bikes {n}", "In June, {all}")
    assert "Data: the town's own." in words.facts
    assert words.facts[-1] == "dpheatmap, 31\xa0Jan\xa02026."


# By state of knowledge


def test_no_signal_also_where_the_map_is_not_uniform(few: Release) -> None:
    heat = few.heatmap()
    assert not heat.uniform
    assert heat.empty
    picture = picture_of(heat)
    assert not picture.painted
    assert picture.words.takeaway == NO_SIGNAL
    assert NO_SIGNAL == "No place stands out from the noise. This does not mean that nobody was there."
    assert picture.words.nothing is not None
    assert picture.words.nothing.heading == "No place stands out from the noise"
    assert "(ε = 0.1)" in picture.words.nothing.text
    assert "12" not in " ".join(all_words(picture.words)), "the number of people is not public"
    assert heat.std is not None
    hidden = float(np.median(1.645 * heat.std / heat.pixel_areas[:, None]))
    told = re.search(r"anything below about ([\d.]+) times the even share would be hidden", picture.words.legend.bare)
    assert told is not None
    assert float(told[1]) == pytest.approx(hidden, rel=0.06)
    assert not picture.hatch
    assert picture.busiest == ()


def test_smoothing_is_advised_only_where_it_helps(few: Release) -> None:
    card = picture_of(few.heatmap()).words.nothing
    assert card is not None
    assert "Smoothing more does not help here: even at 0.2 of the side nothing stands out." in card.text
    people = generated_people(60)
    some = seeded_release(people, Domain.unit(6), seed=1, epsilon="0.5", user="person", x="x", y="y")
    advised = picture_of(some.heatmap(sigma=0.004)).words.nothing
    assert advised is not None
    said = re.search(r"Smoothing over ([\d.]+) of the side shows something\.", advised.text)
    assert said is not None
    assert picture_of(some.heatmap(sigma=float(said[1]))).painted


@every_kind
def test_an_empty_map_has_no_signal(domain: Domain) -> None:
    finest = domain.cells(domain.depth)
    picture = picture_of(heat_of(domain, np.ones((finest.rows, finest.columns)), uniform=True))
    assert not picture.painted
    assert picture.words.takeaway == NO_SIGNAL
    assert picture.words.legend.bare == "Not known: whoever is there is hidden by the noise"


def test_low_signal(make_heat: Any) -> None:
    """A peak of which less than 3 % of the map is firm."""
    values = np.ones((64, 64))
    values[30:34, 30:34] = 400.0
    std = np.where(values > 1, 0.01, 10.0) * values / values.sum()
    picture = picture_of(heat_of(SQUARE, values, std=std))
    assert picture.painted
    assert picture.words.takeaway.startswith(
        "Only the busiest places can be told from the noise. The densest place has "
    )
    wide = picture_of(bell(CITY))
    assert "Only the busiest" not in wide.words.takeaway


@pytest.mark.parametrize(("spread", "rough"), [(0.05, False), (0.4, True)])
def test_what_is_rough_is_said_to_be(spread: float, rough: bool) -> None:
    """1.645 times .4 is more than a half."""
    picture = picture_of(bell(SQUARE, spread=spread))
    assert picture.hatch == rough
    assert picture.words.legend.rough == ("Rough: may be off by half or more" if rough else "")


def test_the_papers_method_does_not_say_how_sure_it_is() -> None:
    people = generated_people(3000, extent=CITY.extent)
    paper = seeded_release(people, CITY, seed=1, epsilon=1, user="person", x="x", y="y", design="paper")
    picture = picture_of(paper.heatmap(method="paper"))
    assert picture.words.legend.notes == ("How sure this is, is not known.",)
    assert picture.clarity is None
    assert not picture.hatch
    assert re.search(r" has about [\d.,]+ of every ", picture.words.takeaway), "no range"
    assert "too few to tell" not in picture.words.legend.bare
    assert picture.words.reading.sure == ""


@every_kind
def test_a_seeded_map_is_not_private(domain: Domain) -> None:
    for seeded in (False, True):
        words = picture_of(bell(domain, seeded=seeded)).words
        assert words.warnings == ((NOT_PRIVATE,) if seeded else ())
        assert (words.badge == "Not private") == seeded
    assert NOT_PRIVATE == "Not private: made with a seed, for tests only"


# Bands


def test_limits_give_every_map_of_a_series_the_same_bands() -> None:
    one, other = (picture_of(bell(CITY, wide), Look(limits=(1, 50))) for wide in (0.05, 0.3))
    assert one.edges == other.edges == (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
    assert one.unit == other.unit
    assert one.unit.legend == "Of every 1,000 people, how many are in a square kilometre here"


def test_a_map_below_its_limits_is_bare_but_not_noise() -> None:
    picture = picture_of(bell(CITY, 0.3), Look(limits=(200, 500)))
    assert picture.values.max() < 200
    assert picture.painted
    assert picture.words.nothing is None
    assert picture.words.takeaway.startswith("Half of the people are in")
    assert busiest_of(picture) in picture.words.takeaway


@pytest.mark.parametrize("domain", [SCREEN, SQUARE], ids=["image", "unit square"])
def test_over_a_picture_nothing_below_an_eighth_of_the_top_is_painted(domain: Domain, tmp_path: Path) -> None:
    width, height = (64, 48) if domain is SCREEN else (64, 64)
    Image.new("RGB", (width, height)).save(tmp_path / "page.png")
    over = picture_of(bell(domain), Look(background=tmp_path / "page.png"))
    assert over.edges[0] >= 0.999 * over.values.max() / 8
    assert picture_of(bell(domain)).edges[0] < picture_of(bell(domain)).values.max() / 8


def test_a_pitch_has_all_bands() -> None:
    assert len(picture_of(bell(PITCH), Look(background="pitch")).edges) == 6


@every_kind
def test_the_first_edge_lies_above_the_noise(domain: Domain) -> None:
    """Of what can't be told, 95 % is less; so the legend's first number means something."""
    values = bell(domain, 0.15).values
    std = np.where(np.arange(values.shape[1]) < values.shape[1] // 3, 5.0, 0.01) * values
    picture = picture_of(heat_of(domain, values, std=std))
    assert picture.clarity is not None
    hidden = picture.values[:, : values.shape[1] // 4]
    assert (hidden < picture.edges[0]).mean() > 0.9


# Everything


def pictures() -> dict[str, Picture]:
    made: dict[str, Picture] = {}
    for name, domain in KINDS.items():
        heats: dict[str, Heatmap] = {
            "sure": bell(domain), "rough": bell(domain, spread=0.4), "noise": bell(domain, spread=5.0),
            "unknown": heat_of(domain), "seeded": bell(domain, seeded=True),
            "tiny": bell(domain, loss=PureLoss(Fraction(1, 10**9))),
        }  # fmt: skip
        made |= {f"{name}, {state}": picture_of(heat) for state, heat in heats.items()}
        for state in ("sure", "noise", "unknown"):
            change = Difference(heats[state], replace(heats[state], values=heats[state].values[::-1]))
            made[f"change on {name}, {state}"] = picture_of_difference(change)
    made["pitch"] = picture_of(bell(PITCH), Look(background="pitch", what="shots"))
    return made


PICTURES = pictures()


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_words_that_nobody_needs_do_not_appear(picture: Picture) -> None:
    for text in all_words(picture.words):
        assert not FORBIDDEN.search(text), text
        assert "  " not in text
        assert "None" not in text
    assert not re.search(r"\{(?!lo|hi|v)", " ".join(all_words(picture.words))), "nothing is left to be filled in"


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_sentences_end(picture: Picture) -> None:
    words = picture.words
    assert all(fact.endswith(".") for fact in words.facts)
    assert words.takeaway.endswith(".")
    assert words.badge


@every_kind
def test_ranges_are_told_for_coarse_places(domain: Domain) -> None:
    picture = picture_of(bell(domain, spread=0.2))
    found = picture.ranges()
    assert found is not None
    low, high = found
    assert max(low.shape) <= 256
    assert low == pytest.approx(np.full(low.shape, 1 - 0.2 * 1.645))
    assert high == pytest.approx(np.full(high.shape, 1 + 0.2 * 1.645))
    assert picture_of(heat_of(domain)).ranges() is None


def test_a_smaller_picture_has_the_same_words_and_mean() -> None:
    picture = picture_of(bell(CITY))
    small = picture.at_most(40)
    assert max(small.values.shape) == 40
    assert small.words == picture.words
    assert small.values.mean() == pytest.approx(picture.values.mean(), rel=1e-6)
    assert small.at_most(40) is small


def test_combined_releases_and_trust_are_in_the_small_print(city: Release) -> None:
    other = seeded_release(
        generated_people(500, extent=CITY.extent), CITY, seed=2, epsilon=2, user="person", x="x", y="y"
    )
    heat = replace(city.heatmap(), combined=(city, other), priors=(other,))
    facts = " ".join(picture_of(heat).words.facts)
    for fact in (
        "Combines a release with epsilon = 1, ",
        "Combines a release with epsilon = 2, ",
        "Prior: a release with",
    ):
        assert fact in facts
    assert dph.__name__ in facts
