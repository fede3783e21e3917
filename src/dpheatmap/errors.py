"""Everything that dpheatmap raises on purpose.

::

    DpheatmapError                 exit code 1
    ├── ParameterError             2   a value outside its rule (also a ValueError)
    │   └── DomainError            2   a place that can't be mapped
    ├── DataError                  3   a table that can't be read, or lacks a column
    │   ├── BrokenRecord           3   a line of a text file that can't be read, and is not to be left out
    │   ├── ReleaseFileError       3   a release file that is broken, newer or altered
    │   └── LedgerError            3   a ledger that is broken, altered or can't be written
    ├── PrivacyRefusal             4   what was asked would break the promise
    └── MissingDependency          1   an optional package is needed and absent

    PlaceWarning                       a warning: columns that don't look like coordinates of the place

Each message is one sentence that names the thing, the rule and the value, and a second one that says what
to do. None of them carries anything read from people's rows.
"""

from __future__ import annotations

from typing import ClassVar


class DpheatmapError(Exception):
    """The base of all errors raised on purpose.

    Attributes
    ----------
    exit_code : int
        The exit code of the command line.
    """

    exit_code: ClassVar[int] = 1


class ParameterError(DpheatmapError, ValueError):
    """A parameter lies outside its rule."""

    exit_code = 2


class DomainError(ParameterError):
    """The place asked for can't be mapped."""


class DataError(DpheatmapError):
    """A table or file can't be used as it is."""

    exit_code = 3


class BrokenRecord(DataError):  # noqa: N818
    """A line of a text file can't be read.

    Parameters
    ----------
    message : str
        The sentences for everybody.
    place : str, default ""
        Which line it is, for the data holder's terminal only.

    Attributes
    ----------
    place : str
        Which line it is.
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place

    def __reduce__(self) -> tuple[type[BrokenRecord], tuple[str, str]]:
        return type(self), (str(self), self.place)


class ReleaseFileError(DataError):
    """A release file is broken, of a newer format, or not a release at all."""


class LedgerError(DataError):
    """A ledger is broken, was altered, or can't be read or written."""


class PlaceWarning(UserWarning):
    """Columns, by their names and declared types, don't look like coordinates of the place; no row was read for it."""


class PrivacyRefusal(DpheatmapError):  # noqa: N818
    """What was asked would break the privacy promise, so it was not done."""

    exit_code = 4


class MissingDependency(DpheatmapError):  # noqa: N818
    """An optional package is needed and is not installed.

    Parameters
    ----------
    package : str
        The package.
    purpose : str
        What needs it: the subject of the sentence.
    extra : str, optional
        The extra of dpheatmap that installs it; by default the package is installed by its own name.
    """

    def __init__(self, package: str, purpose: str, extra: str | None = None) -> None:
        what = package if extra is None else f"'dpheatmap[{extra}]'"
        super().__init__(f"{purpose} needs the package {package}, which is not installed. Run: pip install {what}")


class BudgetWarning(UserWarning):
    """Something was paid for, and what it bought is not where it should be."""
