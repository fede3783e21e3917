"""Payment for a release: checked against the ledger before the table is read, charged before noise is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any

from dpheatmap._util.parameters import check
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss
from dpheatmap.errors import ParameterError
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.slicing.part import Part


@dataclass(frozen=True)
class Payment:
    """A charge to a population, or none if there is no ledger.

    ``made`` is the time of the request, before the table is read: how long reading takes depends on the rows.
    """

    ledger: Ledger | None
    population: str
    loss: PureLoss | ConcentratedLoss
    part: Part | None
    made: datetime
    marks: tuple[bytes, ...]
    """The marks by which the ledger recognises the input's files."""
    series: int | None = None

    @classmethod
    def prepare(
        cls,
        ledger: str | PathLike[str] | Ledger | None,
        population: str | None,
        loss: PureLoss | ConcentratedLoss,
        part: Part | None,
        events: object,
        series: int | None = None,
    ) -> Payment:
        """Make the payment if the ledger would accept it now; until it is charged, others may spend what was left.

        With ``series``, the release was reserved by the entry of that number.
        """
        made = datetime.now(UTC).replace(microsecond=0)
        if population is not None:
            check(population=population)
        if (ledger is None) != (population is None):
            raise ParameterError(
                "ledger and population go together, and one of them is missing. Give ledger='city.ledger', "
                "population='riders'."
            )
        if series is not None and ledger is None:
            raise ParameterError("A series is one of a ledger's, and none was named. Give ledger and population, too.")
        opened = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
        if opened is None or population is None:
            return cls(None, "", loss, part, made, ())
        opened.check(population, of=part, series=series, **_price(loss))
        return cls(opened, population, loss, part, made, tuple(opened.marks_of(events)), series)

    def charge(self) -> LedgerEntry | None:
        """Write the charge to the ledger, or refuse. No noise is drawn before this, and nothing is refused after it.

        The code that draws noise is loaded first, so that little comes between the charge and the release: an
        interruption there loses what was paid for.
        """
        if self.ledger is None:
            return None
        from dpheatmap.curator.core.noise_kernels import load

        load()
        entry = self.ledger.charge(
            self.population, of=self.part, made=self.made, series=self.series, **_price(self.loss)
        )
        self.ledger.note_files(self.population, self.marks)
        return entry


def _price(loss: PureLoss | ConcentratedLoss) -> dict[str, Any]:
    """What a release of this loss is charged: an epsilon, or a rho."""
    return {"rho": loss.rho} if isinstance(loss, ConcentratedLoss) else {"epsilon": loss.epsilon}
