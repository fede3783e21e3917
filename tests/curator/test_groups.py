"""Several images at once: a person weighs at most 1 on all of them together, and an audit would find if not."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.core.measure import measure_counts
from dpheatmap.curator.core.query import COUNTERS, aggregation
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import PAPER_DECAY, SHARES, UNITS
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import decode
from dpheatmap.slicing.axis import Axis
from helpers import planted
from helpers.tables import Columns, by_kind, table

SQUARE = Domain.unit(2)
LIST = ["a.jpg", "b.jpg", "nobody's.jpg"]
COLUMNS: dict[str, Any] = {"user": "user", "x": "x", "y": "y", "image": "image"}
Cells = dict[tuple[str, int, int], int]


class Look(NamedTuple):
    user: str | None
    image: str | None
    x: float | None
    y: float | None
    weight: int | None = 1


LOOKS = st.lists(
    st.builds(
        Look,
        user=st.sampled_from(["ann", "bob", "Ann", None]),
        image=st.sampled_from(["a.jpg", "b.jpg", "A.jpg", "c.jpg", "", None]),
        x=st.sampled_from([0.1, 0.3, 0.9, 1.0, 1.5, None, math.nan]),
        y=st.sampled_from([0.2, 0.6]),
        weight=st.sampled_from([0, 1, 5, 2**31, -1, None]),
    ),
    max_size=20,
)
SCHEMA = pa.schema(
    [("user", pa.string()), ("image", pa.string()), ("x", pa.float64()), ("y", pa.float64()), ("weight", pa.int64())]
)


def by_the_query(looks: list[Look], *, weighted: bool) -> tuple[Cells, dict[str, int]]:
    events = pa.Table.from_pylist([look._asdict() for look in looks], schema=SCHEMA)
    weight = "weight" if weighted else None
    return as_cells(counted(events, LIST, weight=weight))


def counted(events: Any, names: list[str], domain: Domain = SQUARE, **reading: Any) -> list[dph.Counts]:
    """The exact counts of each group."""
    columns = {name: column for name, column in COLUMNS.items() if name != "image"}
    slices = Slices(Axis(None, tuple(names)), group=COLUMNS["image"])
    return count(events, domain, Reading(**{**columns, **reading}), slices=slices)


def as_cells(found: list[dph.Counts]) -> tuple[Cells, dict[str, int]]:
    cells: Cells = {}
    for name, counts in zip(LIST, found, strict=True):
        x, y = decode(counts.codes)
        for column, row, units in zip(x.tolist(), y.tolist(), np.diff(counts.sums).tolist(), strict=True):
            cells[name, column, row] = units
    report = found[0].report
    assert report is not None
    return {at: units for at, units in cells.items() if units}, {name: getattr(report, name) for name in COUNTERS}


def in_plain_python(looks: list[Look], *, weighted: bool) -> tuple[Cells, dict[str, int]]:
    counters = dict.fromkeys(COUNTERS, 0) | {"rows": len(looks)}
    theirs: defaultdict[str, list[Look]] = defaultdict(list)
    for look in looks:
        fine = look.x is not None and math.isfinite(look.x)
        fine = fine and (not weighted or (look.weight is not None and 0 <= look.weight <= 2**31))
        if look.user is None:
            counters["without_person"] += 1
        elif not fine:
            counters["invalid"] += 1
        elif look.image not in LIST or not 0 <= (look.x or 0.0) <= 1:
            counters["outside"] += 1
        else:
            counters["inside"] += 1
            theirs[look.user].append(look)
    counters["people"] = len(theirs)
    cells: Counter[tuple[str, int, int]] = Counter()
    for events in theirs.values():
        weights = [(look.weight or 0) if weighted else 1 for look in events]
        total = sum(weights)
        for look, weight in zip(events, weights, strict=True):
            at = (str(look.image), min(int(4 * (look.x or 0.0)), 3), int(4 * (look.y or 0.0)))
            cells[at] += UNITS * weight // total if total else 0
    return {at: units for at, units in cells.items() if units}, counters


@given(LOOKS, st.booleans())
def test_the_query_against_plain_python(looks: list[Look], weighted: bool) -> None:
    assert by_the_query(looks, weighted=weighted) == in_plain_python(looks, weighted=weighted)


def most_that_one_person_adds(looks: list[Look], others: list[Look]) -> int:
    before, _ = by_the_query(others, weighted=False)
    after, _ = by_the_query([*others, *(look._replace(user="newcomer") for look in looks)], weighted=False)
    changes = {at: after.get(at, 0) - before.get(at, 0) for at in {*before, *after}}
    assert all(change >= 0 for change in changes.values())
    return sum(changes.values())


@given(LOOKS, LOOKS)
def test_one_more_person_adds_at_most_w_over_all_images(looks: list[Look], others: list[Look]) -> None:
    """The contract that every image's full epsilon rests on."""
    assert most_that_one_person_adds(looks, others) <= UNITS


TWO_IMAGES = [Look(None, "a.jpg", 0.1, 0.2), Look(None, "b.jpg", 0.1, 0.2)]


def test_a_person_who_weighs_one_in_every_image_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_that_one_person_adds(TWO_IMAGES, []) == UNITS
    planted.a_person_weighs_one_in_every_image(monkeypatch)
    assert most_that_one_person_adds(TWO_IMAGES, []) == 2 * UNITS


# An audit from outside, as in `test_privacy`: the false-alarm rate is 1e-6 over both tests and directions.

EPSILON, ALPHA, RUNS = Fraction(2), 1e-6 / 4, 10_000


def lower_bound() -> float:
    """How much the images of one person's looks tell: both of their noisy counts at or above those with the person.

    With the person each is with probability 1/2 and a bit, 1/4 together; without, less by e^-epsilon if the person's
    weight is shared. Whether 10,000 runs are enough is in `test_privacy.test_power`: 1/4 against e^-4 / 4.
    """
    design = PaperDesign({0: SHARES}, 20, PAPER_DECAY)
    looks = pd.DataFrame([look._replace(user="them") for look in TWO_IMAGES])
    nobody = looks[:0].astype({"user": object, "image": object})
    added, without = (counted(events, LIST[:2], Domain.unit(0)) for events in (looks, nobody))
    truth = [int(counts.sums[-1]) for counts in added]

    def hits(images: list[dph.Counts]) -> int:
        """How often both counts are at least what they are with the person."""
        return sum(
            all(
                measure_counts(counts, PureLoss(EPSILON), design).counts[0] >= full
                for counts, full in zip(images, truth, strict=True)
            )
            for _ in range(RUNS)
        )

    return epsilon_lower_bound(hits(added), RUNS, hits(without), RUNS, ALPHA)


def test_images_together_keep_the_promise() -> None:
    assert 0.75 * EPSILON < lower_bound() <= EPSILON


def test_a_person_who_weighs_one_in_every_image_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    planted.a_person_weighs_one_in_every_image(monkeypatch)
    assert lower_bound() > EPSILON


# The interface


def looks(people: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "user": [f"u{k}" for k in range(people) for _ in LIST],
            "image": [*LIST[:2], "elsewhere.jpg"] * people,
            "x": rng.random(3 * people),
            "y": rng.random(3 * people),
        }
    )


def test_every_listed_image_gets_a_release_of_the_full_epsilon() -> None:
    made = dph.release_images(looks(), SQUARE, images=iter(LIST), epsilon="1/3", **COLUMNS)
    assert list(made) == LIST
    assert {release.epsilon for release in made.values()} == {Fraction(1, 3)}
    assert len({release.made for release in made.values()}) == 1
    assert not any(release.seeded for release in made.values())


def test_splitting_epsilon_gives_each_image_its_part() -> None:
    seen: list[RowReport] = []
    made = dph.release_images(looks(), SQUARE, images=LIST, epsilon=1, split="epsilon", seen=seen.append, **COLUMNS)
    assert sum(release.epsilon for release in made.values()) == 1
    assert len({release.epsilon for release in made.values()}) == 1
    assert [report.people for report in seen] == [50, 50, 0]
    weights = [counted(looks(), [name])[0].total / UNITS for name in LIST]
    assert weights == [50, 50, 0]  # everybody once in each


def test_sharing_weight_leaves_everybody_one() -> None:
    seen: list[RowReport] = []
    dph.release_images(looks(), SQUARE, images=LIST, epsilon=1, seen=seen.append, **COLUMNS)
    assert len(seen) == 1
    assert (seen[0].people, seen[0].outside) == (50, 50)


@by_kind
def test_images_from_every_kind_of_table(kind: str, tmp_path: Path) -> None:
    columns: Columns = {"user": ["1", "1", "2", "2"], "image": ["b.jpg", "a.jpg", "A.JPG", "a.jpg"]}
    columns |= {"x": [0.1, 0.9, 0.1, 0.1], "y": [0.1, 0.1, 0.1, 0.1]}
    cells, _ = as_cells(counted(table(kind, columns, tmp_path), LIST))
    half = UNITS // 2
    assert cells == {("a.jpg", 3, 0): half, ("a.jpg", 0, 0): UNITS, ("b.jpg", 0, 0): half}


def test_names_are_text_and_nothing_else() -> None:
    """Quotes in a name stay in it, numbers are named as they are written, and a table may have any columns."""
    name = 'it\'s "quoted"; DROP TABLE people_events --'
    frame = pd.DataFrame({"user": [1, 2], "image": [name, "x"], "x": [0.1, 0.1], "y": [0.1, 0.1], "picture": [7, 8]})
    frame["name"] = "same"
    (counts,) = counted(frame, [name], where="picture = 7 AND name = 'same'")
    assert counts.sums[-1] == UNITS
    numbers = duckdb.connect().sql("SELECT i AS user, i AS image, 0.1 AS x, 0.1 AS y FROM range(3) t(i)")
    assert [int(c.sums[-1]) for c in counted(numbers, ["2", "5"])] == [UNITS, 0]


def test_an_empty_table_and_each_row_a_person(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("")
    made = dph.release_images(str(tmp_path / "none.json"), SQUARE, images=LIST, epsilon=1, **COLUMNS)
    assert list(made) == LIST
    counts = counted(looks(), LIST, user=None, each_row_is_a_person=True)
    assert [int(c.sums[-1]) // UNITS for c in counts] == [50, 50, 0]


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"image": "pictures"}, dph.errors.DataError, "There is no group column 'pictures' .* Did you mean 'picture'"),
        ({"image": "x"}, dph.errors.DataError, "group column 'x' is of type DOUBLE, not text"),
        ({"images": []}, dph.errors.ParameterError, "images must be a list of 1 to 10000 names"),
        ({"images": ["a", "a"]}, dph.errors.ParameterError, "each once"),
        ({"images": "a.jpg"}, dph.errors.ParameterError, "images must be a list"),
        ({"split": "people"}, dph.errors.ParameterError, "split must be one of 'weight', 'epsilon'"),
        ({"x": None}, dph.errors.ParameterError, "x must name a column"),
        ({"user": None}, dph.errors.PrivacyRefusal, "No user column was named"),
        ({"domain": None}, dph.errors.PrivacyRefusal, "No public domain"),
        ({"epsilon": Fraction(1, 10**12)}, dph.errors.ParameterError, "epsilon"),
    ],
)
def test_refusals(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    events = looks().rename(columns={"image": "picture"}) if wrong.get("image") == "pictures" else looks()
    with pytest.raises(error, match=words):
        dph.release_images(**{"events": events, "domain": SQUARE, "images": LIST, "epsilon": 1, **COLUMNS, **wrong})


def test_the_statement_with_groups_stands_alone() -> None:
    sql = aggregation("SELECT * FROM t", SQUARE, weighted=False, each_row_is_a_person=False, grouped=True)
    with duckdb.connect() as con:
        row = "'a' AS person, 0.1::DOUBLE AS x, 0.1::DOUBLE AS y, 1 AS group_number, TRUE AS is_listed"
        con.execute(f"CREATE TABLE t AS SELECT {row}")
        rows = con.execute(sql).fetchall()
    assert (1, 0, 0, UNITS) in rows
    assert len(rows) == 1 + len(COUNTERS)


@pytest.mark.parametrize("split", ["weight", "epsilon"])
def test_a_ledger_is_charged_epsilon_once_for_all_images(split: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Together they cost epsilon, however it is split; beyond the limit nothing is read, let alone measured."""
    ledger = dph.Ledger(tmp_path / "lab.ledger")
    ledger.limit("viewers", Fraction(3, 2))
    looks = pd.DataFrame([look._replace(user="them") for look in TWO_IMAGES])
    options = {"images": LIST, "split": split, "epsilon": 1, "ledger": ledger, "population": "viewers", **COLUMNS}
    made = dph.release_images(looks, SQUARE, **options)
    assert ledger.accounts()["viewers"].spent == 1
    assert ledger.accounts()["viewers"].charges == 1
    assert len({of_image.ledger for of_image in made.values()}) == 1
    assert all(of_image.ledger is not None for of_image in made.values())
    assert ledger.verify(made.values()) == 2
    for forbidden in ("count", "measure_release"):
        monkeypatch.setattr(f"dpheatmap.curator.groups.{forbidden}", None)
    with pytest.raises(dph.errors.PrivacyRefusal):
        dph.release_images(looks, SQUARE, **options)
    assert ledger.accounts()["viewers"].spent == 1
