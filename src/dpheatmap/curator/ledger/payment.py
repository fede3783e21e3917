"""Who pays for what is about to be drawn: asked before the table is read, charged before the first noise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike

from dpheatmap._util.parameters import check
from dpheatmap.curator.core.part import Part
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.errors import ParameterError
from dpheatmap.releases.release import LedgerEntry


@dataclass(frozen=True)
class Payment:
    """What is charged to which population, or to nobody if there is no ledger.

    ``made`` is when it was asked for: not after reading, because how long that takes depends on the rows.
    """

    ledger: Ledger | None
    population: str
    epsilon: Fraction
    part: Part | None
    made: datetime
    marks: tuple[bytes, ...]
    """What tells the input's files from others, for the ledger to recognise them."""

    @classmethod
    def asked_for(
        cls,
        ledger: str | PathLike[str] | Ledger | None,
        population: str | None,
        epsilon: Fraction,
        part: Part | None,
        events: object,
    ) -> Payment:
        """The payment, if the ledger would take it now; until it is charged, others may spend what was left."""
        made = datetime.now(UTC).replace(microsecond=0)
        if population is not None:
            check(population=population)
        if (ledger is None) != (population is None):
            raise ParameterError(
                "ledger and population go together, and one of them is missing. Give ledger='city.ledger', "
                "population='riders'."
            )
        opened = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
        if opened is None or population is None:
            return cls(None, "", epsilon, part, made, ())
        opened.check(population, epsilon, of=part)
        return cls(opened, population, epsilon, part, made, tuple(opened.marks_of(events)))

    def charge(self) -> LedgerEntry | None:
        """Write it down, or refuse: no noise before this, and nothing that can be refused after it.

        What draws noise is loaded first, so that little comes between the charge and what was paid for: being
        interrupted there loses it.
        """
        if self.ledger is None:
            return None
        from dpheatmap.curator.core.noise_kernels import load

        load()
        entry = self.ledger.charge(self.population, self.epsilon, of=self.part, made=self.made)
        self.ledger.note_files(self.population, self.marks)
        return entry
