"""Payment for a release: checked against the ledger before the table is read, charged before noise is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike

from dpheatmap._util.parameters import check
from dpheatmap.curator.ledger.ledger import Ledger
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
    epsilon: Fraction
    part: Part | None
    made: datetime
    marks: tuple[bytes, ...]
    """The marks by which the ledger recognises the input's files."""

    @classmethod
    def prepare(
        cls,
        ledger: str | PathLike[str] | Ledger | None,
        population: str | None,
        epsilon: Fraction,
        part: Part | None,
        events: object,
    ) -> Payment:
        """Make the payment if the ledger would accept it now; until it is charged, others may spend what was left."""
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
        """Write the charge to the ledger, or refuse. No noise is drawn before this, and nothing is refused after it.

        The code that draws noise is loaded first, so that little comes between the charge and the release: an
        interruption there loses what was paid for.
        """
        if self.ledger is None:
            return None
        from dpheatmap.curator.core.noise_kernels import load

        load()
        entry = self.ledger.charge(self.population, self.epsilon, of=self.part, made=self.made)
        self.ledger.note_files(self.population, self.marks)
        return entry
