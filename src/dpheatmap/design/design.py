"""Designs: which cells are measured, and with which share of epsilon.

Most designs ask *questions*: the noisy counts of some cells of a level, each for the same share of epsilon. Such a
design starts with one question, and every answer leads to further ones about the same cells or cells inside them. Both
sides of the wall walk through the same questions: the curator to answer them, and whoever reads a release to check it.
The ladder's decisions are secret instead, and made by the curator (`curator/core/looks.py`).

**The invariant of every design**, on which the proof in `curator/core/measure.py` rests: along each path from the top
of the tree down to a finest cell, the shares of all measurements add up to at most SHARES, which stands for epsilon. It
is kept locally. A question states what each path through its cells has left after it. The questions that follow may use
no more than that, and no path may be followed by two of them. `curator/core/budget.py` checks this at every step,
whatever the design.

A design also defines how it is chosen, its form in files, and its own reconstructions. Its expected error is forecast
separately (`forecast.py`), because decisions are made in whole numbers and fractions alone. `registry.py` lists them
all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeGuard

from dpheatmap._util.parameters import as_epsilon
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.settings import Settings
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints


class Question(NamedTuple):
    """Cells of a level, codes ascending, the share of epsilon spent on each, and what their paths have left then."""

    level: int
    cells: Ints
    share: int
    left: int


class Design(Protocol):
    """What is known about a design beforehand."""

    name: ClassVar[str]
    """Its name in options and files."""
    takes: ClassVar[tuple[str, ...]]
    """The settings that it takes beyond those of all designs."""
    methods: ClassVar[Mapping[str, str]]
    """Its own reconstructions beside the posterior: names, and the modules whose ``reconstruct`` they are."""

    @property
    def first(self) -> int:
        """The first level that may be measured, apart from the total."""

    @property
    def last(self) -> int:
        """The deepest level that may be measured."""

    @property
    def at_once(self) -> bool:
        """Whether all cells of all levels are measured, for devices that can't be asked twice."""

    def possible_shares(self, domain: Domain) -> set[int]:
        """Every share that a measurement may have."""

    @classmethod
    def choose(cls, domain: Domain, epsilon: Fraction, settings: Settings) -> Self:
        """Choose the design that settings name; refuse settings that don't fit."""

    def to_dict(self, part: Callable[[int], Fraction]) -> dict[str, Any]:
        """Describe the design for the metadata of files; ``part`` gives the part of epsilon that a share stands for."""

    @classmethod
    def from_dict(cls, metadata: Mapping[str, Any]) -> Self:
        """The design that :meth:`to_dict` described."""


class AskingDesign(Design, Protocol):
    """A design whose decisions are functions of published values: the first question, and those that follow."""

    def begin(self, domain: Domain) -> Question:
        """The question that every release starts with."""

    def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        """The questions that follow from the noisy counts."""


def asks(design: Design) -> TypeGuard[AskingDesign]:
    """Whether a design asks questions; ``isinstance`` of a protocol would take a tenth of a small release."""
    return hasattr(design, "begin") and hasattr(design, "after")


class Ruled:
    """The form in files of designs that consist of two levels and further fractions."""

    takes: ClassVar[tuple[str, ...]] = ()
    methods: ClassVar[Mapping[str, str]] = {}
    at_once: ClassVar[bool] = False

    def to_dict(self, part: Callable[[int], Fraction]) -> dict[str, Any]:
        """The rule: every field as text."""
        return {"rule": {name: str(value) for name, value in vars(self).items()}}

    @classmethod
    def from_dict(cls, metadata: Mapping[str, Any]) -> Self:
        """The design of a rule."""
        rule = metadata["rule"]
        values = {field.name: as_epsilon(rule[field.name]) for field in fields(cls)}  # type: ignore[arg-type]
        if len(rule) > len(values):
            raise ValueError("there is more to the rule than a rule has")
        first, last = values.pop("first"), values.pop("last")
        if first.denominator != 1 or last.denominator != 1:
            raise ValueError("a level is not a whole number")
        return cls(int(first), int(last), **values)  # type: ignore[call-arg]
