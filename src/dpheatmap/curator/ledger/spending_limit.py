"""The limits that a population can have: of epsilon, of epsilon at a delta, or of rho.

A limit tells how much room is left in two sums. A charge is admitted if it fits into the room of either of them
(`population_account.py` has the proof):

| limit | room in the sum of epsilon | room in the sum of rho |
|---|---|---|
| E | E, as long as every charge is pure | none |
| E at delta | E, as long as every charge is pure | the largest rho that is (E, delta)-DP |
| rho | none | rho |
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpheatmap._util.parameters import as_epsilon, check, limit_parts
from dpheatmap.design.composition import rho_within
from dpheatmap.design.shares import exact_text
from dpheatmap.errors import ParameterError


@dataclass(frozen=True)
class Limit:
    """What may be spent on a population: ``epsilon``, at ``delta`` if that is above 0, or else ``rho``.

    >>> print(Limit(Fraction(3)), Limit(Fraction(1), Fraction(1, 10**6)), Limit(rho=Fraction(1, 50)), sep=", ")
    3, 1 at delta 0.000001, rho 0.02
    """

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None) or (self.rho is not None and self.delta):
            raise ValueError("a limit is of epsilon, of epsilon at a delta, or of rho")

    @classmethod
    def of(cls, epsilon: object, delta: object, rho: object) -> Limit:
        """The limit that parameters of these names give, checked."""
        given = {"epsilon": epsilon, "delta": delta, "rho": rho}
        check(**{name: value for name, value in given.items() if value is not None})
        if (epsilon is None) == (rho is None) or (rho is not None and delta is not None):
            raise ParameterError(
                "A limit is of epsilon, of epsilon and delta, or of rho, and something else was given. Give one."
            )
        if rho is not None:
            return cls(rho=as_epsilon(rho))
        return cls(as_epsilon(epsilon), Fraction(0) if delta is None else as_epsilon(delta))

    @classmethod
    def read(cls, was: object) -> Limit:
        """The limit that a number, a text such as ``str`` writes, or a limit names."""
        if isinstance(was, Limit):
            return was
        check(was=was)
        return cls.of(*limit_parts(was))

    @property
    def is_pure(self) -> bool:
        """Whether it is of epsilon, without a delta."""
        return self.epsilon is not None and not self.delta

    @property
    def amount(self) -> Fraction:
        """The limit as a number, in its own unit."""
        return self.rho if self.rho is not None else self.whole_epsilon

    @property
    def whole_epsilon(self) -> Fraction:
        """What the sum of epsilon may reach while every charge is pure; 0 if it is no way in."""
        return self.epsilon or Fraction(0)

    @property
    def whole_rho(self) -> Fraction:
        """What the sum of rho may reach; 0 if it is no way in."""
        if self.rho is not None:
            return self.rho
        return rho_within(self.whole_epsilon, self.delta) if self.delta else Fraction(0)

    def as_dict(self) -> dict[str, str]:
        """The limit as it is written into entries and JSON.

        >>> Limit(Fraction(1), Fraction(1, 10**6)).as_dict()
        {'epsilon': '1', 'delta': '1/1000000'}
        """
        if self.rho is not None:
            return {"rho": str(self.rho)}
        return {"epsilon": str(self.epsilon)} | ({"delta": str(self.delta)} if self.delta else {})

    def as_options(self, value: str = "--epsilon") -> str:
        """The limit as options of a command, that of epsilon by the name given."""
        if self.rho is not None:
            return f"--rho {exact_text(self.rho)}"
        delta = f" --delta {exact_text(self.delta)}" if self.delta else ""
        return f"{value} {exact_text(self.whole_epsilon)}{delta}"

    def __str__(self) -> str:
        if self.rho is not None:
            return f"rho {exact_text(self.rho)}"
        return exact_text(self.whole_epsilon) + (f" at delta {exact_text(self.delta)}" if self.delta else "")
