"""Who was trusted with what, and the law of the noise that follows from it.

* ``"curator"``: whoever sees everybody's rows adds a discrete Laplace.
* ``"shuffler"``: each device adds a part of the noise before anybody sees its numbers. With n devices, of which n_min
  would be enough, a part is the difference of two negative binomial variables of shape 1 / n_min; all together have the
  shape n / n_min, which is that many discrete Laplaces, a whole number or not.
* ``"servers"``: each server adds a discrete Laplace to shares that look random; a measurement has the sum of them.
* ``"nobody"``: each device adds noise to its only report; sums over many reports are Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

TRUSTED = ("curator", "shuffler", "servers", "nobody")


@dataclass(frozen=True)
class Mechanism:
    """The trust model of a release: who was ``trusted``, how many Laplaces are ``summed`` in a measurement, and the
    public number of ``participants``, whose devices sent something.
    """

    trusted: str = "curator"
    summed: Fraction = Fraction(1)
    participants: int | None = None

    def __post_init__(self) -> None:
        enough = self.trusted in TRUSTED and self.summed >= 1
        if self.trusted in ("curator", "nobody"):
            enough = enough and self.summed == 1
        if self.trusted == "servers":
            enough = enough and self.summed >= 2 and self.summed.denominator == 1
        collected = self.participants is not None and 1 <= self.participants < 2**40
        if not enough or collected != (self.trusted != "curator"):
            raise ValueError("not a trust model")

    @property
    def family(self) -> str:
        """The family of the noise."""
        return "Gaussian" if self.trusted == "nobody" else "discrete Laplace"

    @property
    def enough(self) -> int:
        """How many honest devices are enough: n_min of the shuffle model."""
        return int((self.participants or 0) / self.summed)

    @property
    def collected(self) -> bool:
        """Whether devices sent what was measured, and no curator saw their data."""
        return self.trusted != "curator"


CURATOR = Mechanism()


def shuffled(participants: int, enough: int) -> Mechanism:
    """So many devices sent through a shuffler, each with noise for that ``enough`` of them be honest.

    >>> shuffled(60, 50).summed
    Fraction(6, 5)
    """
    return Mechanism("shuffler", Fraction(participants, enough), participants)


def served(participants: int, servers: int) -> Mechanism:
    """So many devices sent shares to so many servers, each of which added its own noise."""
    return Mechanism("servers", Fraction(servers), participants)


def local(participants: int) -> Mechanism:
    """So many devices sent one noisy report each."""
    return Mechanism("nobody", participants=participants)
