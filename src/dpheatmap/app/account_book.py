"""What each charge bought, for whoever answers for the budget: the ledger's entries beside the shelf's releases.

Nothing here comes from people's data. The ledger has names, prices and times; the shelf knows the requests that were
charged.
"""

from __future__ import annotations

from typing import Any

from dpheatmap._util.csv_table import csv_table
from dpheatmap.app.release_shelf import PLACE, Record, Shelf
from dpheatmap.app.texts import say
from dpheatmap.curator import Ledger


def entries_in_words(ledger: Ledger, shelf: Shelf) -> list[dict[str, Any]]:
    """Every entry of the ledger, the newest first, with what it bought as far as this app knows."""
    bought = purchases(shelf)
    ids = {_key(record): record.id for record in shelf.all()}
    rows = [
        {
            "number": row.number,
            "made": row.made,
            "population": row.population,
            "epsilon": row.price,
            "kind": row.kind,
            "note": _note(row),
            "bought": bought.get(key, ""),
            "id": ids.get(key),
        }
        for row in ledger.entries()
        for key in [(row.number, row.made, row.population)]
    ]
    return rows[::-1]


def _note(row: Any) -> str:
    """What an entry is that bought nothing."""
    if row.limit is not None:
        limit, changes = str(row.limit), row.kind.startswith("change")
        return say("limit_changed", limit=limit) if changes else say("limit_set", limit=limit)
    if row.releases is not None:
        return say("series_reserved", releases=f"{row.releases:,}", each=row.price)
    return ""


def purchases(shelf: Shelf) -> dict[tuple[int, str, str], str]:
    """What charges bought, by the entry's number, time and population: another ledger has other entries."""
    there = {_key(record): in_words(record) for record in shelf.all()}
    gone = {_key(r): say("bought_and_deleted", what=in_words(r)) for r in shelf.deleted_records()}
    return {key: words for key, words in (gone | there).items() if key is not None}


def in_words(record: Record) -> str:
    """What a request was for.

    >>> in_words(Record("0", "map", "done", "", "trips.csv", {}, "", title="June"))
    'Map “June” of trips.csv'
    """
    if record.kind == PLACE:
        return say("bought_place", file=record.file)
    return (
        say("bought_title", title=record.title, file=record.file) if record.title else say("bought", file=record.file)
    )


def _key(record: Record) -> tuple[int, str, str] | None:
    charge = record.charge or {}
    return (charge["entry"], charge["made"], charge["population"]) if "entry" in charge else None


def verify(ledger: Ledger, shelf: Shelf) -> str:
    """Check that the ledger is whole and has the charges of all releases on the shelf; returns the result in words."""
    there = [record for record in shelf.all() if shelf.release_path(record.id).is_file()]
    releases = {f"{in_words(record)} ({record.id})": shelf.release(record.id) for record in there}
    count = ledger.verify(releases)
    return say("ledger_whole", entries=f"{count:,}", releases=f"{len(releases):,}")


def export(ledger: Ledger, shelf: Shelf) -> str:
    """Every entry as CSV, as ``dpheatmap ledger export`` writes it, with a last column that says what it bought."""
    bought = purchases(shelf)
    rows = [(*row, bought.get((row.number, row.made, row.population), "")) for row in ledger.entries()]
    return csv_table([*Ledger.COLUMNS, "bought"], rows)
