"""The file ``series.json`` of a release a day: the plan, its reservation, and which days were paid for.

Everything in it is public. It is written whole or not at all. A day is noted as *begun* before it is charged, and as
*paid* when its release is in the folder. If a process is killed in between, the ledger tells afterwards whether the day
was charged: then more releases of the reservation were used than are noted as paid. One process at a time works in a
folder, by a lock that ends with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from dpheatmap._util.files import replace_whole
from dpheatmap._util.parameters import check
from dpheatmap.errors import DpheatmapError, LedgerError, ReleaseFileError
from dpheatmap.planning.daily_plan import DailyPlan
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.release_file import ledger_entry

NAME, LOCK, FORMAT = "series.json", ".series.lock", 1


@dataclass(frozen=True)
class Journal:
    """What ``series.json`` says."""

    plan: DailyPlan
    entry: LedgerEntry
    """The entry of the ledger that reserved all days."""
    begun: date | None = None
    paid: Mapping[date, int] = field(default_factory=dict)
    """How often each day was charged."""

    def settle(self, used: int) -> Journal:
        """Note a day that was begun as paid if the ledger says that it was charged; ``used`` releases were so far."""
        if self.begun is None:
            return self
        charged = used > sum(self.paid.values())
        return replace(self.finish() if charged else self, begun=None)

    def begin(self, day: date) -> Journal:
        """Note a day as begun."""
        return replace(self, begun=day)

    def finish(self) -> Journal:
        """Note the day that was begun as paid."""
        assert self.begun is not None
        return replace(self, begun=None, paid={**self.paid, self.begun: self.paid.get(self.begun, 0) + 1})

    def write(self, folder: Path) -> None:
        """Write the file."""
        values = {
            "format": FORMAT,
            **self.plan.to_dict(),
            "ledger": self.entry._asdict(),
            "begun": self.begun and str(self.begun),
            "paid": {str(day): times for day, times in sorted(self.paid.items())},
        }
        with replace_whole(folder / NAME) as temporary:
            temporary.write_text(json.dumps(values, indent=2), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Journal:
        """Read the file of a folder, after checking it."""
        path = folder / NAME
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except OSError:
            raise ReleaseFileError(
                f"There is no {NAME} in {str(folder)!r}. Check the folder, or begin with dpheatmap series start."
            ) from None
        except (ValueError, RecursionError):
            values = None
        try:
            if values["format"] != FORMAT:
                raise ValueError("another format")
            plan, entry = DailyPlan.from_dict(values), ledger_entry(values["ledger"])
            begun = None if values["begun"] is None else plan.day(values["begun"])
            paid = {plan.day(day): times for day, times in values["paid"].items()}
            for times in paid.values():
                check(releases=times)
            if entry is None:
                raise ValueError("no reservation")
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, DpheatmapError) as error:
            raise ReleaseFileError(f"{path} is damaged or of another version. Get a copy that is whole.") from error
        return cls(plan, entry, begun, paid)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Work in a folder as the only process; where files can't be locked, as on Windows, alone by your own care."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        file = (folder / LOCK).open("a")
    except OSError as error:
        raise DpheatmapError(f"{str(folder)!r} can't be written to: {error.strerror}. Check the folder.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LedgerError(f"Another process is at work in {str(folder)!r}. Wait until it has finished.") from None
        yield
