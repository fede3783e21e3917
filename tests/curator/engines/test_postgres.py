"""PostgreSQL counts as DuckDB and plain Python do, cell by cell; and tells nothing when it fails."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period
from helpers import nasty, texts_of_times, timed
from helpers.hostile_values import assert_no_more_than_one
from helpers.postgres import compiling
from helpers.served import until
from helpers.tables import W, outcome

DOMAINS = [
    dph.Domain.unit(7),
    dph.Domain.image(5, 3),
    dph.Domain.bbox(-180, -85, 180, 85, depth=9),
    nasty.REGION,
    nasty.BEYOND,
    *nasty.UP_TO_GREENWICH,
]
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
TYPES = "u text, x float8, y float8, w bigint, d text"


@pytest.fixture(scope="module")
def con(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as con:
        yield con


def fill(con: psycopg.Connection[Any], name: str, events: pa.Table, types: str = TYPES) -> None:
    con.execute(f"DROP TABLE IF EXISTS {name} CASCADE")
    con.execute(f"CREATE TABLE {name} ({types})")
    with con.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in events.columns), strict=True):
            copy.write_row(row)


def without_nothing(found: tuple[Any, Any]) -> tuple[Any, Any]:
    cells, counters = found
    counters = {name: value for name, value in counters.items() if name != "broken_lines"}
    return {at: weight for at, weight in cells.items() if weight}, counters


def counted(database: str, domain: dph.Domain, table: str = "nasty", **options: Any) -> tuple[Any, Any]:
    return without_nothing(outcome(database, domain, **{**COLUMNS, "table": table, **options}))


@pytest.mark.parametrize("domain", DOMAINS, ids=["unit", "image", "box", "region", "beyond", "to 360", "region to 360"])
def test_nasty_points_fall_into_the_same_cells(database: str, con: psycopg.Connection[Any], domain: dph.Domain) -> None:
    events = nasty.table(domain, 6000)
    fill(con, "nasty", events)
    for options in ({}, {"weight": "w"}, {"weight": "w", "user": None, "each_row_is_a_person": True}):
        wanted = nasty.expected(events, domain, weighted="weight" in options, each="user" in options)
        for url in (database, compiling(database)):
            assert counted(url, domain, **options) == wanted
        assert without_nothing(outcome(events, domain, **{**COLUMNS, **options})) == wanted


def test_predicates_parts_and_images(database: str, con: psycopg.Connection[Any]) -> None:
    domain = DOMAINS[0]
    events = nasty.table(domain, 3000, seed=2)
    fill(con, "nasty", events)
    choices: list[dict[str, Any]] = [
        {"where": "w >= 2 AND NOT u LIKE 'p1%' OR x IS NULL"},
        {"where": "u > 'a' AND LOWER(u) <> 'ss' AND w IN (1, 2, 3)"},
        {"partition": {"d": ["north", "south"]}, "part": "north"},
    ]
    for options in choices:
        wanted = without_nothing(outcome(events, domain, **{**COLUMNS, **options}))
        for url in (database, compiling(database)):
            assert counted(url, domain, **options) == wanted, options
    images: dict[str, Any] = {"image": "d", "images": ["north", "elsewhere", "south"], "epsilon": 1}
    sources: list[tuple[Any, dict[str, Any]]] = [(events, {}), (database, {"table": "nasty"})]
    both = [dph.release_images(source, domain, **COLUMNS, **images, **extra) for source, extra in sources]
    assert [*both[0]] == [*both[1]]
    slices = Slices(Axis(None, tuple(images["images"])), group="d")
    counted_here, counted_there = (
        count(source, domain, Reading(**COLUMNS, **extra), slices=slices) for source, extra in sources
    )
    for here, there in zip(counted_here, counted_there, strict=True):
        assert here.codes.tolist() == there.codes.tolist()
        assert here.sums.tolist() == there.sums.tolist()


TIMED = """u text, x float8, y float8, instant timestamptz, clock timestamp, day date, seconds bigint,
    float_seconds float8, g text"""


@pytest.mark.parametrize(("column", "every", "zone", "start", "end"), timed.SLICED)
def test_times_are_in_the_same_slices(
    database: str, con: psycopg.Connection[Any], column: str, every: str, zone: Any, start: Any, end: Any
) -> None:
    events = timed.table()
    fill(con, "timed", events, TIMED)
    con.execute("ALTER DATABASE postgres SET timezone TO 'Pacific/Auckland'")
    slices = Slices(Axis(Period.of(every, zone, start, end), ("bike", "walk")), time=column, group="g")
    here = count(events, dph.Domain.unit(7), Reading(**COLUMNS), slices=slices)
    there = count(database, dph.Domain.unit(7), Reading(**COLUMNS, table="timed"), slices=slices)
    assert sum(one.total for one in here) > 0
    for one, other in zip(here, there, strict=True):
        assert one.codes.tolist() == other.codes.tolist()
        assert one.sums.tolist() == other.sums.tolist()
    assert (here[0].report.invalid, here[0].report.outside) == (there[0].report.invalid, there[0].report.outside)  # type: ignore[union-attr]


@pytest.mark.parametrize(("seed", "kind"), [(1, "text"), (2, "varchar(99)")])
def test_texts_mean_what_python_s_calendar_says(
    database: str, con: psycopg.Connection[Any], seed: int, kind: str
) -> None:
    texts = texts_of_times.some(seed, 6000)
    fill(con, "written", texts_of_times.table(texts), f"u text, x float8, y float8, t {kind}")
    con.execute("ALTER DATABASE postgres SET timezone TO 'Pacific/Auckland'")
    con.execute("ALTER DATABASE postgres SET datestyle TO 'SQL, DMY'")
    slices = Slices(Axis(Period.of("hour-of-week", "America/New_York")), time="t")
    found = count(database, dph.Domain.unit(7), Reading(**COLUMNS, table="written"), slices=slices)
    texts_of_times.check_reading(texts, found, slices)


def test_infinite_times_are_invalid(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("DROP TABLE IF EXISTS forever")
    con.execute("CREATE TABLE forever (u text, x float8, y float8, t timestamp, z timestamptz, d date)")
    far = ("294276-12-31", "4713-01-01 BC", "20000-01-01")
    for word in ("infinity", "-infinity", *far, "2024-06-03 08:00"):
        day = "5874897-12-31" if word == far[0] else word.partition(" 0")[0]
        con.execute("INSERT INTO forever VALUES ('a', 0.5, 0.5, %s, %s, %s)", [word, word, day])
    for column in ("t", "z", "d"):
        slices = Slices(Axis(Period.of("weekday", "UTC")), time=column)
        found = count(database, dph.Domain.unit(3), Reading(**COLUMNS, table="forever"), slices=slices)
        assert found[0].report is not None
        assert (found[0].report.invalid, found[0].report.inside) == (5, 1)


COORDINATES = st.one_of(st.sampled_from(nasty.NUMBERS), st.floats(0, 1), st.floats())
ROWS = st.lists(
    st.tuples(st.sampled_from(nasty.IDS), COORDINATES, COORDINATES, st.sampled_from(nasty.WEIGHTS), st.none()),
    max_size=12,
)


@settings(max_examples=20, deadline=None)
@given(ROWS, st.sampled_from(DOMAINS), st.booleans())
def test_any_rows(
    database: str, con: psycopg.Connection[Any], rows: list[Any], domain: dph.Domain, weighted: bool
) -> None:
    events = pa.Table.from_pylist([dict(zip(nasty.SCHEMA.names, row, strict=True)) for row in rows], nasty.SCHEMA)
    fill(con, "anything", events)
    found = counted(database, domain, "anything", weight="w" if weighted else None)
    assert found == nasty.expected(events, domain, weighted=weighted)


THEIRS = st.lists(st.tuples(COORDINATES, COORDINATES, st.sampled_from(nasty.WEIGHTS)), min_size=1, max_size=6)


@settings(max_examples=20, deadline=None)
@given(THEIRS, st.sampled_from([name for name in nasty.IDS if name]), st.sampled_from([None, "x < 2 AND w >= 0"]))
def test_one_person_s_rows_change_nobody_else_s(
    database: str, con: psycopg.Connection[Any], theirs: list[Any], name: str, where: str | None
) -> None:
    """Put behind and before those of others, they add at most W."""
    others = nasty.table(DOMAINS[0], 40)
    rows = [dict(zip(nasty.SCHEMA.names, (f"{name} eve", *row, None), strict=True)) for row in theirs]
    hostile = pa.Table.from_pylist(rows, nasty.SCHEMA)
    fill(con, "without", others)
    fill(con, "with_them", pa.concat_tables([hostile.slice(1), others, hostile.slice(0, 1)]))
    before, after = (counted(database, DOMAINS[0], t, weight="w", where=where) for t in ("without", "with_them"))
    assert_no_more_than_one(before, after)


@pytest.mark.parametrize(
    ("kind", "ids", "people"),
    [("text COLLATE sleepy", ["a", "A", "ä", "Ä"], 4), ("varchar(9)", ["a", "a "], 2),
     ("numeric", [2**53, 2**53 + 1], 2), ("bigint", [2**53, 2**53 + 1], 2), ("mood", ["sad", "ok"], 2),
     ("nick", ["a", "A"], 2), ("bytea", [b"a", b"A"], 2)],
)  # fmt: skip
def test_whose_row_it_is(database: str, con: psycopg.Connection[Any], kind: str, ids: list[Any], people: int) -> None:
    """Byte by byte, also where the column's own collation finds them equal."""
    con.execute("CREATE COLLATION IF NOT EXISTS sleepy (provider=icu, locale='und-u-ks-level1', deterministic=false)")
    con.execute("DROP TABLE IF EXISTS ids; DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'ok')")
    con.execute("DROP DOMAIN IF EXISTS nick; CREATE DOMAIN nick AS text COLLATE sleepy")
    con.execute(f"CREATE TABLE ids (u {kind}, x real, y numeric)")
    for one in ids:
        con.execute("INSERT INTO ids VALUES (%s, 0.1, 0.1)", (one,))
    assert counted(database, DOMAINS[0], "ids")[1]["people"] == people


def test_decimals_beyond_all_floats_stop_nothing(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("DROP TABLE IF EXISTS wide; CREATE TABLE wide (u text, x numeric, y numeric)")
    for k, value in enumerate(["1e400", "-1e400", "NaN", "1e-400", "0.5"]):
        con.execute("INSERT INTO wide VALUES (%s, %s::numeric, 0.5)", (str(k), value))
    cells, counters = counted(database, dph.Domain.unit(1), "wide")
    assert cells == {(0, 1): W, (1, 1): W}
    assert counters["invalid"] == 3


def test_points_of_postgresql_and_postgis(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("DROP TABLE IF EXISTS spots; CREATE TABLE spots (u int, p point)")
    con.execute("INSERT INTO spots VALUES (1, '(0.1, 0.9)'), (2, NULL), (3, '(7, 7)'), (4, '(0.9, 0.1)')")
    wanted = {(0, 1): W, (1, 0): W}
    unit = dph.Domain.unit(1)
    assert counted(database, unit, "spots", x=None, y=None, geometry="p")[0] == wanted
    try:
        con.execute("CREATE SCHEMA IF NOT EXISTS gis; CREATE EXTENSION IF NOT EXISTS postgis SCHEMA gis")
    except psycopg.Error:
        pytest.skip("PostGIS is not installed")
    con.execute("ALTER TABLE spots ADD g gis.geometry, ADD swiss gis.geometry(Point, 2056), ADD a gis.geography")
    con.execute("""UPDATE spots SET g = gis.ST_MakePoint(p[0], p[1]),
        swiss = gis.ST_SetSRID(gis.ST_MakePoint(p[0], p[1]), 2056),
        a = gis.ST_SetSRID(gis.ST_MakePoint(p[0], p[1]), 4326)""")
    for shape in ("POINT EMPTY", "LINESTRING(0 0, 1 1)"):
        con.execute(f"INSERT INTO spots (u, g, a) SELECT 9, s, s FROM gis.ST_GeomFromText('{shape}', 4326) s")
    for column in ("g", "swiss", "a"):
        assert counted(database, unit, "spots", x=None, y=None, geometry=column)[0] == wanted
    with pytest.raises(DataError, match=r"'swiss' of spots .* in the system 'EPSG:2056', and a box needs"):
        counted(database, DOMAINS[2], "spots", x=None, y=None, geometry="swiss")


def test_a_view_that_draws_lots_is_read_once(database: str, con: psycopg.Connection[Any]) -> None:
    """Were it read twice, whoever was counted once could be placed three times: more than W units."""
    con.execute("CREATE OR REPLACE VIEW lots AS SELECT (random() * 40)::int AS u, random() AS x, random() AS y "
                "FROM generate_series(1, 500)")  # fmt: skip
    for _ in range(5):
        cells, counters = counted(database, dph.Domain.unit(3), "lots")
        assert counters["rows"] == counters["inside"] == 500
        assert 0 <= counters["people"] * W - sum(cells.values()) < 500


def test_what_else_may_differ_from_reading_to_reading_is_read_once(database: str, con: psycopg.Connection[Any]) -> None:
    """A foreign table, which a program fills, also as a part of a table; and a table whose rows a policy draws."""
    lots = 'od -An -v -N1500 -tu1 -w3 /dev/urandom | awk \'{print $1 % 40 "," $2 / 256 "," $3 / 256}\''
    columns = "(u int, x float8, y float8)"
    for statement in (
        "CREATE EXTENSION IF NOT EXISTS file_fdw",
        "DROP SERVER IF EXISTS programs CASCADE",
        "CREATE SERVER programs FOREIGN DATA WRAPPER file_fdw",
        f"CREATE FOREIGN TABLE fetched {columns} SERVER programs OPTIONS (format 'csv', program $${lots}$$)",
        "DROP TABLE IF EXISTS parted",
        f"CREATE TABLE parted {columns} PARTITION BY RANGE (u)",
        f"CREATE FOREIGN TABLE part PARTITION OF parted DEFAULT SERVER programs OPTIONS (format 'csv', "
        f"program $${lots}$$)",
        "DROP TABLE IF EXISTS watched",
        "CREATE TABLE watched AS SELECT i % 40 AS u, random() AS x, random() AS y FROM generate_series(1, 500) i",
        "ALTER TABLE watched ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY half ON watched USING (random() < 0.5)",
        "DO $$BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN END$$",
        "GRANT SELECT ON watched TO reader",
    ):
        con.execute(statement)
    by_reader = database.replace("tester", "reader")
    for url, table in ((database, "fetched"), (database, "parted"), (by_reader, "watched")):
        cells, counters = counted(url, dph.Domain.unit(3), table)
        assert 0 <= counters["people"] * W - sum(cells.values()) < 500, table


def test_without_statistics_it_does_not_take_for_ever(database: str, con: psycopg.Connection[Any]) -> None:
    """PostgreSQL takes a fresh table for tiny; going through all people for each event would take minutes."""
    con.execute("DROP TABLE IF EXISTS fresh")
    con.execute("CREATE TABLE fresh AS SELECT i % 9000 AS u, 0.5::float8 AS x, 0.5::float8 AS y "
                "FROM generate_series(1, 60000) i")  # fmt: skip
    patient = f"{database}&options=-c%20statement_timeout%3D20000"
    assert counted(patient, dph.Domain.bbox(0, 0, 1, 1, depth=9), "fresh")[1]["people"] == 9000


class StopError(Exception):
    pass


def test_whatever_ends_us_ends_the_query_there(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("CREATE OR REPLACE VIEW slow AS SELECT 1 AS u, 0.5 AS x, pg_sleep(3600)::text IS NULL AS b, 0.5 AS y")

    def stop(part: float, seconds: float) -> None:
        assert part == -1
        if seconds > 0.5:
            raise StopError

    with pytest.raises(StopError):  # at once, not in an hour
        counted(database, dph.Domain.unit(3), "slow", progress=stop, where="b")
    running = "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%'"
    until(lambda: con.execute(running).fetchone(), lambda found: found == (0,))


def test_it_can_only_read(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("""DROP TABLE IF EXISTS taken; CREATE TABLE taken (n int);
        CREATE OR REPLACE FUNCTION take() RETURNS int LANGUAGE sql AS 'INSERT INTO taken VALUES (1); SELECT 1';
        CREATE OR REPLACE VIEW sly AS SELECT take() AS u, 0.5 AS x, 0.5 AS y""")
    with pytest.raises(DataError, match=r"Reading from postgresql://.* failed \(ReadOnlySqlTransaction\)"):
        counted(database, dph.Domain.unit(3), "sly")


def test_times_are_compared_as_elsewhere_or_refused_whoever_is_there(
    database: str, con: psycopg.Connection[Any]
) -> None:
    con.execute("""DROP TABLE IF EXISTS trips; CREATE TABLE trips (
        u text, x float8, y float8, day date, hour time, at timestamp, there timestamptz)""")
    options: dict[str, Any] = {**COLUMNS, "table": "trips"}
    refused = {
        "day >= '2024-13-45'": "day is of type DATE", "at > 'soon'": "at is of type TIMESTAMP",
        "u = 'a' AND there > 'soon'": "there is of type TIMESTAMP WITH TIME ZONE", "day >= 'today'": "of type DATE",
        "EXTRACT(hour FROM day) = 1": "it has 'EXTRACT", "EXTRACT(year FROM hour) = 1": "it has 'EXTRACT",
        "day > hour": "it has 'day > hour'",
    }  # fmt: skip
    for rows in (0, 1):
        for where, words in refused.items():
            with pytest.raises((ParameterError, DataError), match=words):
                outcome(database, dph.Domain.unit(3), where=where, **options)
        if not rows:
            stamp = "'2024-06-30', '23:30', '2024-06-30 23:30', '2024-06-30 23:30+02'"
            con.execute(f"INSERT INTO trips VALUES ('a', 0.5, 0.5, {stamp})")
    kept = {
        "day >= '2024-06-30' AND day < '2024-07-01'": 1, "at > '2024-06-30T23:29:59.5'": 1, "hour > '23:45'": 0,
        "there = '2024-06-30 21:30:00Z' AND there < '2024-06-30 23:30:00+01:00'": 1, "day > DATE '2024-06-30'": 0,
        "EXTRACT(isodow FROM day) = 7 AND EXTRACT(hour FROM at) = '23'": 1,
    }  # fmt: skip
    for where, people in kept.items():
        assert outcome(database, dph.Domain.unit(3), where=where, **options)[1]["people"] == people, where


REFUSALS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no table": ({"table": None}, ParameterError, "table must name a table of postgresql://"),
    "another table": ({"table": "mallory"}, DataError, "There is no table 'mallory' in postgresql://"),
    "no user": ({"user": None}, PrivacyRefusal, "No user column was named"),
    "another user": (
        {"user": "uu"},
        PrivacyRefusal,
        r"no user column 'uu' in nasty of .* which has u, x, y, w, d\. Did",
    ),
    "text as number": ({"x": "u"}, DataError, "coordinate column 'x'|'u' is of type TEXT, not a number"),
    "floats as ids": ({"user": "x"}, DataError, "different people's ids can become equal"),
    "weight of floats": ({"weight": "y"}, DataError, "weights are integers"),
    "arithmetic": ({"where": "w / 0 > 1"}, ParameterError, "where may compare columns with literals .* 'w / 0'"),
    "cast of a column": ({"where": "CAST(u AS BIGINT) > 1"}, ParameterError, "of their own kind"),
    "text and number": ({"where": "u > 1"}, ParameterError, "of their own kind on this engine; it has 'u > 1'"),
    "pattern of a column": ({"where": "u LIKE d"}, ParameterError, "of their own kind"),
    "escapes": ({"where": r"u LIKE 'a\'"}, ParameterError, "of their own kind"),
    "a number that is none": (
        {"where": "w > 'many'"},
        ParameterError,
        "Literals in where must be .* type BIGINT",
    ),
    "memory": ({"memory": 100}, ParameterError, "memory means nothing to PostgreSQL"),
    "an engine": ({"engine": "duckdb"}, ParameterError, "engine means nothing to PostgreSQL"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_refused(database: str, con: psycopg.Connection[Any], case: str) -> None:
    if con.execute("SELECT to_regclass('nasty')").fetchone() == (None,):
        fill(con, "nasty", nasty.table(DOMAINS[0], 10))
    options, error, words = REFUSALS[case]
    with pytest.raises(error, match=words) as caught:
        counted(database, DOMAINS[0], **options)
    assert "tester" not in str(caught.value)
    assert "not-shown" not in str(caught.value)
    assert caught.value.__context__ is None or "psycopg" not in type(caught.value.__context__).__module__


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"Reading from postgresql://localhost:9/none failed \(OperationalError\)"):
        counted("postgresql://me:secret@localhost:9/none", DOMAINS[0])


def test_a_release_is_charged_like_any_other(database: str, con: psycopg.Connection[Any], tmp_path: Any) -> None:
    fill(con, "nasty", nasty.table(DOMAINS[0], 100))
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 1)
    made = dph.release(
        database, DOMAINS[0], epsilon="1/2", table="nasty", ledger=ledger, population="riders", **COLUMNS
    )
    assert made.ledger is not None
    assert math.isclose(float(ledger.accounts()["riders"].spent), 0.5)
    with pytest.raises(PrivacyRefusal):
        dph.release(database, DOMAINS[0], epsilon=1, table="nasty", ledger=ledger, population="riders", **COLUMNS)


def test_boxes_are_found_and_methods_compared_there(
    database: str, con: psycopg.Connection[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = pa.table({"u": [f"{k}" for k in range(300)], "x": [7.44] * 300, "y": [46.95] * 300})
    fill(con, "townspeople", people, "u text, x float8, y float8")
    columns = ["--table", "townspeople", "--user", "u", "--x", "x", "--y", "y"]
    report = tmp_path / "report.json"
    spent = ["--epsilon", "10", "--no-ledger", "--private-report", str(report)]
    assert run(["discover", database, *columns, *spent]) == 0
    assert capsys.readouterr().out.startswith("--bbox=")
    assert json.loads(report.read_text())["people"] == 300
    chosen = ["--bbox=7.3,46.9,7.5,47.02", "--depth", "14", "--methods", "paper", "--epsilon", "1", "--trials", "1"]
    assert run(["compare", database, *columns, *chosen]) == 0
    assert "aper's algorithm" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "1e-400", "-1e-400"])
def test_a_number_beyond_all_floats_is_its_rows_alone(database: str, con: psycopg.Connection[Any], number: str) -> None:
    """In `where`, compared with floats, it stopped the statement."""
    con.execute("DROP TABLE IF EXISTS beyond")
    con.execute("CREATE TABLE beyond (u text, x float8, y float8, n numeric, f float8, g float4, w bigint)")
    con.execute("INSERT INTO beyond VALUES ('ann', 0.1, 0.1, 5, 4, 4, 1), ('bob', 0.1, 0.1, 3, 4, 4, 1)")
    con.execute("INSERT INTO beyond VALUES ('eve', 0.1, 0.1, %s, 4, 4, 1)", (number,))
    conditions = (
        "n > f", "f < n", "n > g", "n > CAST('4' AS DOUBLE)", "n BETWEEN f AND 6", "f BETWEEN 0 AND n AND n < 6",
        "n IN (f, 5) AND n > 4", "NOT n <= f AND n < 6", "n > 4 AND n < 6", "n > 4.5", "n = 5 OR n = f",
    )  # fmt: skip
    for url, where in [(compiling(database), conditions[0]), *((database, where) for where in conditions)]:
        people = outcome(url, table="beyond", where=where, **COLUMNS)[1]["people"]
        assert people == 1 or (people == 2 and number in ("1e400", "NaN", "Infinity"))
    for column in ("x", "y"):
        options = {**COLUMNS, column: "n", "table": "beyond"}
        assert outcome(database, dph.Domain.image(9, 9), **options)[1]["people"] in (2, 3)
    with pytest.raises(DataError, match="weights are integers"):
        outcome(database, table="beyond", weight="n", **COLUMNS)
