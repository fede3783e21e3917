"""The trust model of a release: who was trusted with people's data, and how many devices took part.

* ``"curator"``: somebody who sees everybody's rows and adds the noise.
* ``"shuffler"``: somebody who mixes messages; each device adds a part of the noise before anybody sees its numbers.
* ``"servers"``: one of several servers, whichever; each adds noise of its own to shares that look random.
* ``"nobody"``: each device adds noise to its only report.
"""

from __future__ import annotations

from dataclasses import dataclass

TRUSTED = ("curator", "shuffler", "servers", "nobody")
PERSON = "person"
UNITS = (PERSON, "row", "trip", "file", "folder", "creator")
"""What may be protected as if it were a person, where a table does not tell whose its rows are."""


@dataclass(frozen=True)
class Trust:
    """The trust model of a release.

    Attributes
    ----------
    who : {"curator", "shuffler", "servers", "nobody"}
        Who was trusted with people's data.
    participants : int or None
        The public number of devices that sent something; None for a curator.
    unit : {"person", "row", "trip", "file", "folder", "creator"}
        What is protected. Only a curator's release has another one than the person.
    """

    who: str = "curator"
    participants: int | None = None
    unit: str = PERSON

    def __post_init__(self) -> None:
        counted = self.participants is not None and 1 <= self.participants < 2**40
        known = self.unit in UNITS if self.who == "curator" else self.unit == PERSON
        if self.who not in TRUSTED or counted != self.collected or not known:
            raise ValueError("not a trust model")

    @property
    def collected(self) -> bool:
        """Whether devices sent what was measured, and no curator saw their data."""
        return self.who != "curator"


CURATORS = {unit: Trust(unit=unit) for unit in UNITS}
"""A trusted curator, by what is protected."""
CURATOR = CURATORS[PERSON]
