"""``where=``: what is on the list works row by row and never fails on a value; everything else is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.read.predicate import row_predicate
from dpheatmap.errors import DataError, DpheatmapError, ParameterError, PrivacyRefusal

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

SELECT = """
    SELECT k, text, number, big, CAST(time AS TIMESTAMP) AS time, day, flag, kind::ENUM('bus', 'tram') AS kind,
        "Ünü ""x", 0.1 AS x, 0.1 AS y
    FROM (VALUES
        (0, '7',     7,    9223372036854775807, '2024-01-01 08:00:00', '2024-01-01', TRUE,  'bus',  1),
        (1, 'seven', NULL, 1,                   '2024-06-30 23:59:59', '2024-06-31', FALSE, 'tram', 2),
        (2, '1e1',   -3,   0,                   NULL,                  'someday',    NULL,  NULL,   3),
        (3, NULL,    10,   NULL,                '2025-01-01 00:00:00', '',           TRUE,  'bus',  4),
        (4, '',      0,    -5,                  '1969-12-31 12:00:00', NULL,         FALSE, 'tram', NULL)
    ) t(k, text, number, big, time, day, flag, kind, "Ünü ""x")"""
TYPES = {row[0]: row[1] for row in duckdb.connect().execute(f"DESCRIBE {SELECT}").fetchall()}


def kept(where: str) -> set[int]:
    """The rows that a predicate lets through, each of which is a person here."""
    with duckdb.connect() as con:
        sql = f"SELECT k FROM ({SELECT}) WHERE {row_predicate(where, TYPES)}"
        return {k for (k,) in con.execute(sql).fetchall()}


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("number > 0", {0, 3}),
        ("number <> 7", {2, 3, 4}),
        ("number != 7 AND number IS NOT NULL", {2, 3, 4}),
        ("NOT number > 0", {2, 4}),
        ("number IS NULL OR number = 0", {1, 4}),
        ("number BETWEEN -3 AND 7", {0, 2, 4}),
        ("number IN (7, 10, 11)", {0, 3}),
        ("number NOT IN (7, 10)", {2, 4}),
        ("-number > 0", {2}),
        ("number * 2 + 1 - 4 / 2 >= 13", {0, 3}),
        ("number % 3 = 1", {0, 3}),
        ("(number = 7 OR number = 10) AND flag", {0, 3}),
        ("flag", {0, 3}),
        ("NOT flag", {1, 4}),
        ("flag = TRUE", {0, 3}),
        ("true", {0, 1, 2, 3, 4}),
        ("1 = 1", {0, 1, 2, 3, 4}),
        ("NULL", set()),
        ("text = 'seven'", {1}),
        ("text LIKE 's%n'", {1}),
        ("text ILIKE 'SEV%'", {1}),
        ("upper(text) = 'SEVEN' AND lower('X') = 'x'", {1}),
        ("text = ''", {4}),
        ("text = 'it''s'", set()),
        ("kind = 'bus'", {0, 3}),
        ("kind = 'ferry'", set()),
        ("kind IN ('tram', 'ferry')", {1, 4}),
        ('"Ünü ""x" >= 3', {2, 3}),
        ("time >= '2024-01-01'", {0, 1, 3}),
        ("time >= DATE '2024-06-01' AND time < TIMESTAMP '2025-01-01 00:00:00'", {1}),
        ("time + INTERVAL 1 DAY > '2024-12-31 23:00:00'", {3}),
        ("extract(hour FROM time) BETWEEN 7 AND 9", {0}),
        ("CAST(time AS DATE) = '2024-06-30'", {1}),
        ("time::DATE = '2024-06-30'", {1}),
        ("date(time) = '2024-06-30'", {1}),
        ("number > 0 -- and nothing else", {0, 3}),
        ("number /* the */ > 0", {0, 3}),
    ],
)
def test_what_is_on_the_list_does_what_it_says(where: str, rows: set[int]) -> None:
    assert kept(where) == rows


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        # Text and numbers: text is read as a number wherever a number is asked for, on either side.
        ("text > 5", {0, 2}),
        ("5 < text", {0, 2}),
        ("text BETWEEN 7 AND 7", {0}),
        ("text IN (7, 8)", {0}),
        ("7 = text", {0}),
        ("text > -1", {0, 2}),
        ("text = number", {0}),
        # Casts that can't be done
        ("CAST(text AS INTEGER) = 7", {0}),
        ("CAST(text AS INTEGER) = 7 OR number = 10", {0, 3}),
        ("CAST(CAST(text AS INTEGER) AS VARCHAR) = '7'", {0}),
        ("text::INTEGER::VARCHAR::INTEGER > 0", {0, 2}),
        ("CAST(day AS DATE) >= '2023-01-01'", {0}),
        ("day >= DATE '2023-01-01'", {0}),
        ("DATE '2023-01-01' < day", {0}),
        ("day IN (DATE '2024-01-01', DATE '2024-01-02')", {0}),
        ("day BETWEEN TIMESTAMP '2023-12-31 23:00:00' AND TIMESTAMP '2024-01-01 00:00:00'", {0}),
        ("day = CAST(time AS DATE)", {0}),
        ("date(day) >= '2023-01-01'", {0}),
        ("CAST(text AS BOOLEAN)", set()),
        ("TRY_CAST(text AS INTEGER) = 7", {0}),
        # A predicate that is no truth value
        ("text", set()),
        ("number", {0, 2, 3}),
        # Arithmetic that can't be done
        ("big * big > 0", {1, 4}),
        ("number % 0 = 1", set()),
        ("big * 9223372036854775807 = 0 OR number = 10", {2, 3}),
    ],
)
def test_no_value_makes_it_fail(where: str, rows: set[int]) -> None:
    """A failure would tell that somebody has such a row. The row is left out instead."""
    got = kept(where)
    assert got == rows


@pytest.mark.parametrize(
    "where", ["number / 0 > 1", "big + 1 > 0", "-big * 4 < 0", "big - 9223372036854775807 < -10", "x / 0 = y / 0"]
)
def test_nor_does_arithmetic_at_its_limits(where: str) -> None:
    assert kept(where) <= {0, 1, 2, 3, 4}


def test_the_row_decides_about_itself_alone() -> None:
    """A value that can't be read takes its own row out, and no other one of its batch."""
    with duckdb.connect() as con:
        odd = "CASE WHEN i = 77777 THEN 'x' ELSE i::VARCHAR END"
        con.execute(f"CREATE TABLE t AS SELECT {odd} AS v FROM range(200000) r(i)")
        predicate = row_predicate("v::INTEGER >= 0 AND v::INTEGER * 1 < 1000000", {"v": "VARCHAR"})
        assert con.execute(f"SELECT COUNT(*) FROM t WHERE {predicate}").fetchone() == (199999,)


CONSTANTS = [
    ("time >= '2024-13-45'", "time is of type TIMESTAMP"), ("time > 'soon'", "time is of type TIMESTAMP"),
    ("'soon' < time", "time is of type TIMESTAMP"), ("time IN ('2024-01-01', '')", "time is of type TIMESTAMP"),
    ("time BETWEEN '2024-01-01' AND '2024-02-30'", "time is of type TIMESTAMP"),
    ("time + INTERVAL 1 DAY > 'soon'", "time is of type TIMESTAMP"), ("CAST(day AS DATE) > 'soon'", "day is of"),
    ("day >= DATE '2024-02-30'", "day is of type VARCHAR"), ("day > TIMESTAMP 'soon'", "day is of type VARCHAR"),
    ("number = 'seven'", "number is of type INTEGER"), ("flag = 'maybe'", "flag is of type BOOLEAN"),
    ("extract(year FROM time) = 'soon'", "time is of type TIMESTAMP"), ("1 = CAST('x' AS INTEGER)", None),
    ("big > 9223372036854775807 + 1", "big is of type BIGINT"), ("CAST('perhaps' AS BOOLEAN)", None),
]  # fmt: skip


@pytest.mark.parametrize("around", ["{}", "NOT {}", "number = 7 OR {}", "number = 7 AND ({})"])
@pytest.mark.parametrize(("part", "why"), CONSTANTS, ids=lambda text: str(text))
def test_constants_that_fail_in_every_row_are_refused(part: str, why: str | None, around: str) -> None:
    """They would select nobody, and be paid for."""
    words = "Literals in where must be values of the type they are compared as; it has .*" + (why or "")
    with pytest.raises(ParameterError, match=words):
        row_predicate(around.format(part), TYPES)


@pytest.mark.parametrize(
    ("where", "types"),
    [
        ("day >= '2024-13-45'", {"day": "VARCHAR"}),
        ("day >= '2024-13-45'", {"day": "JSON"}),
        ("kind = 'ferry'", {"kind": "ENUM"}),  # whether there is such a value, rows tell
        ("CAST(day AS DATE) >= '2024-01-01'", {"day": "VARCHAR"}),
        ("shape = 'soon'", {"shape": "STRUCT(x DOUBLE)"}),
        ("'NULL' = \"NULL\"", {"NULL": "VARCHAR", "null": "DATE"}),
        ("at > '2024-01-01 08:00:00 Europe/Berlin'", {"at": "TIMESTAMP WITH TIME ZONE"}),
        ("at > '2024-01-01 08:00+02'", {"at": "TIMESTAMP_NS"}),
        ("amount < '7.25' AND amount <> '7'", {"amount": "DECIMAL(18,3)"}),
    ],
)
def test_what_only_rows_can_tell_is_not(where: str, types: dict[str, str]) -> None:
    assert row_predicate(where, types).startswith("TRY(")


REFUSED = [
    "x > (SELECT AVG(x) FROM people_events)", "x IN (SELECT 1)", "EXISTS (SELECT 1)", "x > ALL (SELECT 1)",
    "SELECT 1", "FROM t",
    "sum(x) > 1", "count(*) > 1", "max(number) = 7", "avg(x) OVER () > 1", "row_number() OVER () < 10",
    "lag(x) OVER () > 1",
    "random() < 0.5", "now() > time", "current_timestamp > time", "CURRENT_DATE > time",
    "today() > time", "localtime = time",
    "uuid() = text", "gen_random_uuid() = text", "setseed(1)", "nextval('s') > 1", "pg_sleep(1)",
    "md5(text) = 'x'", "hash(text) = 1", "length(text) > 1", "getenv('HOME') = 'x'", "current_setting('x') = 'y'",
    "read_csv('/etc/passwd')", "read_text('/etc/passwd') = 'x'", "text ~ 'a'", "regexp_matches(text, 'a')",
    "text SIMILAR TO 'a'",
    "CASE WHEN x > 1 THEN TRUE END", "coalesce(x, 1) > 0", "list_sum([x]) > 1", "[1] = [1]", "{'a': 1} = {'a': 1}",
    "(x, y) = (1, 2)", "COLUMNS(*) > 1", "*", "x > ?", "x > $1", "x > :a", "x > 1 AS y", "text COLLATE NOCASE = 'a'",
    "error('x')", "x = unnest([1])", "x -> 'a' = 1",
]  # fmt: skip


@pytest.mark.parametrize("where", REFUSED)
def test_what_is_not_on_the_list_is_refused(where: str) -> None:
    with pytest.raises(PrivacyRefusal, match=r"where may look at one row at a time, and .* is not on the list"):
        row_predicate(where, TYPES)


@pytest.mark.parametrize(
    "where",
    [
        "", "   ", "x >", "x > 1; DROP TABLE people_events", "true; SELECT 1", ";",
        "1=1) UNION SELECT * FROM people_events --", "1=1) OR (1=1", "x > 1 LIMIT 1", "x > 1 ORDER BY x",
        "x > 1 GROUP BY x", "x > 1 QUALIFY TRUE", "x > 1 )", "'", '"',
        "x > 1 WHERE y > 1", "-- nothing", "x = '\udcbc'",
    ],
)  # fmt: skip
def test_what_is_not_one_predicate_is_refused(where: str) -> None:
    with pytest.raises(ParameterError, match="where must be one SQL predicate; it was "):
        row_predicate(where, TYPES)


@pytest.mark.parametrize(
    "where",
    ["nope = 1", "TEXT = 'a'", "t.text = 'a'", "people_events.x > 1", "x.y > 1", "rowid > 1", "filename = 'a'"],
)
def test_columns_must_be_the_tables_own(where: str) -> None:
    with pytest.raises(DataError, match=r"where names the column .*, and the table has k, text, number"):
        row_predicate(where, TYPES)


def test_without_a_schema_the_list_still_counts() -> None:
    row_predicate("whatever > 1", None)
    with pytest.raises(PrivacyRefusal):
        row_predicate("whatever > (SELECT 1)", None)


PIECES = st.sampled_from(
    [
        "x", "text", "1", "'a'", "'", '"', "(", ")", ">", "=", "AND", "OR", "--", "/*", "*/", ";", "UNION", "SELECT",
        "FROM", "people", "*", ",", "NULL", "\n", "\\", "$$", "::", "INTEGER", "''", "IN", "BETWEEN", "NOT", "LIKE",
        "DROP TABLE",
    ]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_nothing_gets_out_of_its_brackets(where: str) -> None:
    """Whatever passes is one expression about one row: it neither reads nor changes another table."""
    try:
        predicate = row_predicate(where, TYPES)
    except DpheatmapError:
        return
    with duckdb.connect() as con:
        con.execute("CREATE TABLE people AS SELECT 'secret' AS text, 1.0 AS x")
        found: list[int | None] = []
        for nobody in ("", " WHERE FALSE"):
            try:
                found.append(len(con.execute(f"SELECT k FROM ({SELECT}{nobody}) WHERE {predicate}").fetchall()))
            except duckdb.Error:  # types or literals that don't go together: whatever the rows, even if there are none
                found.append(None)
        assert found == [None, None] or (found[0] is not None and found[0] <= 5 and found[1] == 0)
        assert con.execute("SELECT text FROM people").fetchall() == [("secret",)]


# Through the front door


def people(where: Any) -> int:
    events = duckdb.connect().sql(SELECT)
    counts = dph.aggregate(events, dph.Domain.unit(2), user="k", x="x", y="y", where=where)
    assert counts.report is not None
    assert counts.report.rows == counts.report.people
    return counts.report.people


def test_only_the_rows_let_through_are_counted() -> None:
    assert people(None) == 5
    assert people("number > 0") == 2
    assert people("text > 5") == 2
    assert people("CAST(day AS DATE) >= '2023-01-01'") == 1
    assert people("number > 1000") == 0


def test_types_that_do_not_go_together_are_said_to() -> None:
    with pytest.raises(DataError, match="where compares what can't be compared"):
        people("time > 5")
    with pytest.raises(ParameterError, match="where must be a predicate as text; it was 5"):
        people(5)


def test_a_literal_that_is_no_date_costs_nothing(tmp_path: Path) -> None:
    """Whoever is in the table, also nobody: Parquet knows its types, so its columns are compared as what they are."""
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 2)
    for rows in ("", " WHERE FALSE"):
        events = str(tmp_path / "events.parquet")
        days = f"SELECT k, CAST(time AS DATE) AS day, time, x, y FROM ({SELECT}){rows}"
        duckdb.connect().sql(days).write_parquet(events)
        for where, kind in (("day >= '2024-13-45'", "DATE"), ("time > 'soon'", "TIMESTAMP")):
            with pytest.raises(ParameterError, match=f"is of type {kind}"):
                dph.release(events, dph.Domain.unit(2), epsilon=1, user="k", x="x", y="y", where=where, ledger=ledger,
                            population="riders")  # fmt: skip
    assert ledger.accounts()["riders"].spent == 0
