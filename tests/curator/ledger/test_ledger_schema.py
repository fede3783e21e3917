"""A ledger in PostgreSQL is public.dpheatmap_ledger, wherever the search path of whoever asks may lead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

import dpheatmap as dph
from dpheatmap.curator.ledger.stores import _TABLE
from dpheatmap.errors import LedgerError, PrivacyRefusal

ELSEWHERE = _TABLE % "{}.dpheatmap_ledger"


@pytest.fixture
def con(database: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the tests' own, to a database without a ledger."""
    with psycopg.connect(database, autocommit=True) as con:

        def clear() -> None:
            con.execute("DROP TABLE IF EXISTS public.dpheatmap_ledger")
            con.execute('DROP SCHEMA IF EXISTS evil, tester, "Od""d" CASCADE')

        clear()
        yield con
        clear()


def by_path(database: str, path: str) -> str:
    """The URL for somebody with this search path."""
    return f"{database}&options={quote(f'-c search_path={path}')}"


def names(con: psycopg.Connection[Any]) -> list[str]:
    return [f"{s}.{t}" for s, t in con.execute("SELECT schemaname, tablename FROM pg_tables WHERE tablename = %s",
                                               ("dpheatmap_ledger",)).fetchall()]  # fmt: skip


@pytest.mark.parametrize("path", ["evil,public", "evil,pg_catalog,public", "pg_temp,evil", '"$user"', ""])
def test_the_ledger_is_one_whatever_the_search_path(database: str, con: psycopg.Connection[Any], path: str) -> None:
    """Also if an empty table of the same name lies first: it would open a budget of its own."""
    dph.Ledger(database).limit("riders", 1)
    for schema in ("evil", "tester"):
        con.execute(f"CREATE SCHEMA {schema}")
        con.execute(ELSEWHERE.format(schema))
    led = dph.Ledger(by_path(database, path))
    assert led.accounts()["riders"].left == 1
    led.charge("riders", 1)
    with pytest.raises(PrivacyRefusal, match="Nothing fits"):
        led.charge("riders", 1)
    with pytest.raises(PrivacyRefusal, match="has a limit of 1"):
        led.limit("riders", 40)
    assert con.execute("SELECT count(*) FROM evil.dpheatmap_ledger").fetchone() == (0,)
    assert dph.Ledger(database).verify() == 2


def test_a_new_ledger_is_made_in_public(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("CREATE SCHEMA evil")
    con.execute("CREATE SCHEMA tester")
    led = dph.Ledger(by_path(database, '"$user",evil,public'))
    assert led.verify() == 0
    led.limit("riders", 1)
    assert names(con) == ["public.dpheatmap_ledger"]


def test_functions_and_operators_of_somebody_else_are_not_called(database: str, con: psycopg.Connection[Any]) -> None:
    """A lock that does not lock would let two in; so would a comparison that finds no table."""
    con.execute("CREATE SCHEMA evil")
    con.execute(
        "CREATE FUNCTION evil.pg_advisory_xact_lock(int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'a'; END $$"
    )
    con.execute("CREATE FUNCTION evil.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'a'; END $$")  # fmt: skip
    con.execute("CREATE FUNCTION evil.no(name, text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'b'; END $$")
    con.execute("CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = text, FUNCTION = evil.no)")
    con.execute("CREATE DOMAIN evil.text AS int")
    led = dph.Ledger(by_path(database, "evil,pg_catalog"))
    led.limit("riders", 1)
    led.charge("riders", 1)
    assert led.verify() == 2


def test_a_temporary_table_does_not_stand_in(
    database: str, con: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a pool hands out connections on which somebody left one."""
    connect = psycopg.connect

    def pooled(*arguments: Any, **options: Any) -> psycopg.Connection[Any]:
        made = connect(*arguments, **options)
        made.execute((_TABLE % "dpheatmap_ledger").replace("CREATE", "CREATE TEMPORARY", 1))
        made.commit()
        return made

    dph.Ledger(database).limit("riders", 1)
    monkeypatch.setattr(psycopg, "connect", pooled)
    led = dph.Ledger(database)
    led.charge("riders", 1)
    with pytest.raises(PrivacyRefusal, match="Nothing fits"):
        led.charge("riders", 1)
    con.execute("DROP TABLE public.dpheatmap_ledger")
    for path in ("public", "pg_temp,public"):  # and is not taken for one of an earlier version
        assert dph.Ledger(by_path(database, path)).verify() == 0


@pytest.mark.parametrize("schema", ["tester", 'Od"d'])
def test_a_ledger_of_an_earlier_version_elsewhere_is_moved_first(
    database: str, con: psycopg.Connection[Any], schema: str
) -> None:
    quoted = '"' + schema.replace('"', '""') + '"'
    con.execute(f"CREATE SCHEMA {quoted}")
    dph.Ledger(database).limit("riders", 1)
    con.execute(f"ALTER TABLE public.dpheatmap_ledger SET SCHEMA {quoted}")
    led = dph.Ledger(by_path(database, f"{quoted},public"))
    for use in (led.verify, lambda: led.limit("riders", 40), lambda: led.charge("riders", 1)):
        with pytest.raises(LedgerError, match=r"lie in the schema public\. Move it there: ALTER") as told:
            use()
    assert len(names(con)) == 1
    con.execute(str(told.value).split("there: ")[1])
    assert str(led.accounts()["riders"].limit) == "1"
    assert dph.Ledger(database).verify() == 1


def test_who_lacks_rights_is_told_so(database: str, con: psycopg.Connection[Any]) -> None:
    con.execute("DROP ROLE IF EXISTS stranger")
    con.execute("CREATE ROLE stranger LOGIN")
    con.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    stranger = dph.Ledger(database.replace("tester:not-shown", "stranger"))
    with pytest.raises(
        LedgerError, match=r"you lack rights on the table public\.dpheatmap_ledger, or to make it\. Ask"
    ):
        stranger.limit("riders", 1)
    dph.Ledger(database).limit("riders", 1)
    with pytest.raises(LedgerError, match="you lack rights"):
        stranger.verify()
    con.execute("DROP ROLE stranger")
