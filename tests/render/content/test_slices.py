"""The words of slices: their names, which of them are shown, and which of them may be the busiest."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.heatmap.volumes import Volumes
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.content.slice_volumes import SliceVolumes
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period

HOURS = Axis(Period.of("hour-of-day", "UTC"))
WEEK = Axis(Period.of("hour-of-week", "UTC"))
DAYS = Axis(Period.of("weekday", "UTC"))


def volumes(people: list[float], std: float, axis: Axis = DAYS, quantity: str = "people") -> SliceVolumes:
    """Volumes with draws of a standard deviation."""
    noise = np.random.default_rng(0).normal(0.0, std, (2000, len(people)))
    found = Volumes(axis.labels, np.array(people), np.maximum(np.array(people) + noise, 0.0))
    return SliceVolumes(found, SliceNames(axis), quantity=quantity)


@pytest.mark.parametrize(
    ("axis", "number", "name", "phrase"),
    [
        (HOURS, 8, "08:00", "at 08:00"),
        (WEEK, 32, "Tue 08:00", "on Tue 08:00"),
        (DAYS, 4, "Fri", "on Fri"),
        (Axis(None, ("bike", "walk")), 1, "walk", "in walk"),
        (Axis(Period.of("weekday", "UTC"), ("bike",)), 6, "bike, Sun", "in bike on Sun"),
        (Axis(Period.of("day", "UTC", "2024-06-03", "2024-06-05")), 2, "5 Jun 2024", "on 5 Jun 2024"),
        (Axis(Period.of("month", "UTC", "2024-06-01", "2024-08-31")), 0, "Jun 2024", "in Jun 2024"),
        (Axis(Period.of("3 hours", "UTC", "2024-06-03", "2024-06-03")), 1, "3 Jun 2024, 03:00",
         "from 3 Jun 2024, 03:00"),
    ],
)  # fmt: skip
def test_slices_are_called_as_people_write_them(axis: Axis, number: int, name: str, phrase: str) -> None:
    names = SliceNames(axis)
    assert (names.words[number], names.phrases[number]) == (name, phrase)
    assert len(names.words) == len(names.phrases) == len(axis.labels)


@pytest.mark.parametrize(
    ("axis", "shown", "columns"),
    [
        (HOURS, 24, 6),
        (WEEK, 21, 6),
        (DAYS, 7, 4),
        (Axis(Period.of("weekday", "UTC"), ("bike", "walk")), 14, 7),
        (Axis(Period.of("hour-of-day", "UTC"), ("bike", "walk")), 24, 6),
        (Axis(Period.of("day", "UTC", "2024-06-01", "2024-08-20")), 21, 6),
        (Axis(None, ("bike", "walk")), 2, 2),
    ],
)
def test_a_page_shows_at_most_24_slices_evenly_spaced(axis: Axis, shown: int, columns: int) -> None:
    names = SliceNames(axis)
    numbers = names.choice(24)
    assert (len(numbers), names.columns(24)) == (shown, columns)
    assert len(set(np.diff(numbers).tolist())) <= 1
    assert names.choice(len(axis.labels)) == list(range(len(axis.labels)))


def test_a_week_of_hours_shows_the_same_hours_of_each_day() -> None:
    names = SliceNames(WEEK)
    assert {names.words[number].split()[1] for number in names.choice(24)} == {"00:00", "08:00", "16:00"}


def test_a_slice_is_the_busiest_only_if_no_other_range_reaches_its_own() -> None:
    clear = volumes([100, 100, 100, 100, 400, 100, 10], std=5)
    assert (clear.busiest, clear.quietest) == ([4], [6])
    assert clear.takeaway.startswith("Busiest on Fri, with 38")
    assert clear.takeaway.endswith(" people. Quietest on Sun.")
    two = volumes([100, 100, 100, 395, 400, 100, 10], std=5)
    assert two.busiest == [4, 3]
    assert ", or on Thu: the ranges overlap. Quietest on Sun." in two.takeaway
    many = volumes([399, 398, 397, 396, 400, 100, 10], std=5)
    assert ", or in one of 4 other days whose ranges overlap. Quietest" in many.takeaway
    none = volumes([100, 101, 102, 103, 104, 105, 106], std=30)
    assert none.takeaway == "Which of the 7 days are the busiest can't be told from the noise."


def test_the_range_of_the_busiest_holds_for_all_slices_at_once() -> None:
    """It was chosen because it is the highest, so it is wider than the range of one slice."""
    found = volumes([100.0] * 24, std=10, axis=HOURS)
    one, together = found.ranges, found.ranges_together
    assert (together.low < one.low).all()
    assert (together.high > one.high).all()
    truth = 100.0 + np.random.default_rng(1).normal(0.0, 10.0, (4000, 24))
    held = ((truth >= together.low) & (truth <= together.high)).all(axis=1).mean()
    assert 0.87 < held < 0.93  # 4000 trials: a standard deviation of 0.005


def test_shares_are_of_so_many_people_that_the_largest_has_two_digits() -> None:
    days = volumes([100, 100, 100, 100, 400, 100, 100], std=5, quantity="share")
    assert days.unit == "of every 100 people"
    assert days.values.sum() == pytest.approx(100.0)
    assert days.title == "Of every 100 people, how many are in each of the 7 days"
    hours = volumes([100.0] * 24, std=5, axis=HOURS, quantity="share")
    assert hours.unit == "of every 1,000 people"
    assert (hours.ranges.low < hours.values).all()
    assert (hours.values < hours.ranges.high).all()
    assert volumes([1.0, 2.0], 0.1, Axis(None, ("a", "b"))).title == "How many people are in each of the 2 groups"
