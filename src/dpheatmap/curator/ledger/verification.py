"""Verification of releases against a ledger: their labels name entries, which must be there at the same price."""

from __future__ import annotations

from dpheatmap.curator.ledger.chain import Row, cost_of
from dpheatmap.curator.ledger.population_account import Cost
from dpheatmap.errors import LedgerError
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import SlicedRelease


def check_release(ledger: str, rows: list[Row], name: str, release: Release | SlicedRelease) -> None:
    """Refuse a release, by the name given, whose entry a ledger lacks or holds otherwise."""
    entry = release.ledger
    if entry is None:
        raise LedgerError(f"{name} was made without a ledger, so nothing can be checked against it. Leave it out.")
    if entry.number > len(rows):
        raise LedgerError(
            f"{ledger} was rolled back or cut short: {name} is entry {entry.number}, and the ledger ends with entry "
            f"{len(rows)}. Find the copy with all entries."
        )
    cost = cost_of(rows, entry.number)
    if rows[entry.number - 1].hash != entry.head or cost is None or not _covers(cost, release):
        raise LedgerError(
            f"{ledger} was rewritten, or {name} was charged to another one: entry {entry.number} is not the one in its "
            "label. Find the right copy."
        )


def _covers(cost: Cost, release: Release | SlicedRelease) -> bool:
    """Whether a charge may be that of a release: images, which have Laplace noise, have equal parts of one."""
    loss = Cost.of(release.loss)
    if release.trust.collected:  # its delta would be in no account
        return False
    if (cost.epsilon is None) != (loss.epsilon is None):
        return False
    whole = cost.amount / loss.amount
    alone = cost.epsilon is None or isinstance(release, SlicedRelease)
    return whole == 1 if alone else whole.denominator == 1
