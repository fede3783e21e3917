"""Texts that are times, nearly times, or nothing of the kind, and what they mean by Python's own calendar."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from dpheatmap.curator.aggregation import count
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.place.domain import Domain
from helpers import timed

DATED = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?", re.ASCII
)
COUNTED = re.compile(r"-?\d{1,12}(?:\.\d{1,9})?", re.ASCII)
PIECES = [
    "2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "0000-12-31", "1900-02-29", "2000-02-29", "2024-04-31",
    " ", "T", "t", "  ", "\t", "08:15", "23:59:59", "24:00", "08:60", "08:15:60", "08:15:00.", "00:00", ".5", ".123456",
    ".123456789", ".1234567890", "Z", "z", " Z", "+02", "-0330", "+05:45", "+24:00", "-00:60", "+2:00", "+00:00:00",
    "1717395300", "-1", "-", "+", ".", ":", "0", "999999999999", "253402300799", "253402300800", "-62135596800",
    "-62135596801", "1e9", "0x10", "NaN", "infinity", "epoch", "now", "\u0662\u0660", "\uff12", "\u00e9", "\U0001f552",
    "'", '"', "\\", "%", "$", "${x}", "--", "Europe/Zurich", "\n", " 2024-06-03",
]  # fmt: skip


def meant(text: str | None, zone: str) -> datetime | None:
    """What a clock of the zone shows at a time that is written so; None if it is none."""
    try:
        if text is None:
            return None
        dated = DATED.fullmatch(text)
        if dated is not None:
            day, minute, second, part, ahead = dated.groups()
            shown = datetime.fromisoformat(f"{day}T{minute or '00:00'}:{second or '00'}.{(part or '0'):0<6.6}")
            if ahead is None:
                return shown
            return _at_zone(shown - _offset(ahead), zone)
        if COUNTED.fullmatch(text):
            micros = (Decimal(text) * 10**6).to_integral_value(ROUND_FLOOR)
            return _at_zone(datetime(1970, 1, 1) + timedelta(microseconds=int(micros)), zone)
    except (ValueError, OverflowError):
        pass
    return None


def _offset(ahead: str) -> timedelta:
    digits = ahead.strip("+-Z").replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise ValueError("no offset")
    return (-1 if ahead[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes)


def _at_zone(utc: datetime, zone: str) -> datetime:
    known = min(max(utc, datetime(1900, 1, 1)), datetime(2099, 12, 31, 23))  # zones hold on to the nearest offset
    return utc + (timed.shown(known.replace(tzinfo=UTC), zone) - known)


def some(seed: int, number: int) -> list[str | None]:
    """Texts: a third are times, a third times with a letter changed, and a third pieces put together."""
    lots = random.Random(seed)
    good = [_time(lots) for _ in range(number // 3)]
    spoiled = [_spoil(lots, _time(lots)) for _ in range(number // 3)]
    pieces = ["".join(lots.choices(PIECES, k=lots.randint(1, 4))) for _ in range(number - 2 * (number // 3))]
    return [*timed.BAD_TEXTS, *good, *spoiled, *pieces][:number]


def _time(lots: random.Random) -> str:
    if lots.random() < 0.2:
        whole = str(lots.randint(-(10 ** lots.randint(1, 11)), 10 ** lots.randint(1, 11)))
        return whole + lots.choice(["", f".{lots.randint(0, 10**9 - 1)}"])
    year = lots.choice([lots.randint(1990, 2030), lots.randint(1900, 2100)])
    moment = datetime(year, 1, 1) + timedelta(microseconds=lots.randrange(365 * 86400 * 10**6))
    text = moment.strftime("%Y-%m-%d")
    if lots.random() < 0.1:
        return text
    text += lots.choice(" T") + lots.choice(
        [moment.strftime("%H:%M"), moment.strftime("%H:%M:%S"), _to_the_end(lots, moment)]
    )
    minutes = f"{lots.randint(0, 59):02}"
    zone = f"{lots.choice('+-')}{lots.randint(0, 23):02}{lots.choice(['', minutes, ':' + minutes])}"
    return text + lots.choice(["", lots.choice(["", " "]) + lots.choice(["Z", zone])])


def _to_the_end(lots: random.Random, moment: datetime) -> str:
    digits = lots.randint(1, 9)
    return f"{moment:%H:%M:%S}.{lots.randrange(10**digits):0{digits}}"


def _spoil(lots: random.Random, text: str) -> str:
    at = lots.randrange(len(text) + 1)
    letter: str = lots.choice(["", *"0123456789 -:.+TZz\u0663\u00e9"])
    return text[:at] + letter + text[at + lots.randint(0, 1) :]


def table(texts: list[str | None]) -> Any:
    """A table with a person and a cell of its own, of 128 x 128, for each text."""
    import pyarrow as pa

    size = range(len(texts))
    return pa.table(
        {
            "u": [f"p{k}" for k in size],
            "x": [(k % 128 + 0.5) / 128 for k in size],
            "y": [(k // 128 + 0.5) / 128 for k in size],
            "t": pa.array(texts, pa.string()),
        }
    )


def slices_of_rows(found: list[Any]) -> dict[int, int]:
    """The slice of each row of such a table that is in one."""
    from dpheatmap.place.quadtree import decode

    of_row = {}
    for number, counts in enumerate(found):
        for x, y in zip(*decode(counts.codes), strict=True):
            of_row[int(x) + 128 * int(y)] = number
    return of_row


def wanted(texts: list[str | None], zone: str, labels: tuple[str, ...]) -> dict[int, int]:
    """The hours of the week of texts."""
    shown = {k: meant(text, zone) for k, text in enumerate(texts)}
    return {
        k: labels.index(str(timed.label(one, "hour-of-week", None, None)))
        for k, one in shown.items()
        if one is not None
    }


def check_reading(texts: list[str | None], found: list[Counts], slices: Slices) -> None:
    """Hold what an engine counted of texts against Python's calendar, row by row, and its report against DuckDB's."""
    zone = slices.axis.period.zone if slices.axis.period is not None else None
    assert zone is not None
    wanted_slices = wanted(texts, zone, slices.axis.labels)
    assert len(wanted_slices) > 2000
    assert slices_of_rows(found) == wanted_slices
    here = count(table(texts), Domain.unit(7), Reading(user="u", x="x", y="y"), slices=slices)[0].report
    there = found[0].report
    assert here is not None
    assert there is not None
    assert (there.invalid, there.outside) == (here.invalid, here.outside)
