"""The public terms of a collection with servers, which determine its arithmetic.

Devices send the finest cells only, in B units a person. Servers answer the questions of the adaptive design, each with
noise of its own, so a measurement has the noise of all of them. Shares are mod 2^64, which holds n_max people and any
noise; delta is 0.

Neighbours differ in one participant's data, which is replaced by nothing. That somebody took part is not hidden from
those who receive contributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpheatmap._util.parameters import check
from dpheatmap.collect.limits import check_cells, check_epsilon, check_numbers, check_participants
from dpheatmap.collect.tree import Tree, tree_of
from dpheatmap.curator import public_domain
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.privacy_loss import PureLoss, SummedLoss
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import part, read_epsilon
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import LaplaceNoise
from dpheatmap.releases.release import Release
from dpheatmap.releases.trust import Trust

UNITS = 15
"""The default number of units that one person's weight is rounded to: B, what four bits can count."""
_LEAST_RATE = Fraction(1, 2**50)


@dataclass(frozen=True)
class ServerTerms:
    """The public terms of a collection with servers, of which one has to be honest, made by :meth:`of`.

    Attributes
    ----------
    domain : Domain
        The public place.
    design : AdaptiveDesign
        The rule by which servers choose the next question from what they have published.
    epsilon : Fraction
        How much may leak about a person.
    units : int
        The number of units that one person's weight is rounded to: B.
    n_min : int
        The number of contributions below which nothing is published.
    n_max : int
        The number of contributions that there is room for.
    servers : int
        The number of servers, each of which adds noise.
    model : str
        Always "servers".
    """

    domain: Domain
    design: AdaptiveDesign
    epsilon: Fraction
    units: int
    n_min: int
    n_max: int
    servers: int
    model: ClassVar[str] = "servers"

    @classmethod
    def of(
        cls,
        domain: Domain,
        *,
        epsilon: object,
        n_min: int,
        n_max: int,
        units: int | None = None,
        servers: int = 2,
        depth: int | None = None,
    ) -> ServerTerms:
        """Make the terms; refuse values that don't fit.

        Parameters
        ----------
        domain : Domain
            The public place.
        epsilon : number, str or Fraction
            How much may leak about a person, at most 100.
        n_min : int
            The number of contributions below which nothing is published.
        n_max : int
            The number of contributions that there is room for.
        units : int, optional
            The number of units that one person's weight is rounded to, at least epsilon: by default 15, or epsilon.
        servers : int, default 2
            The number of servers.
        depth : int, optional
            The last level, whose cells devices send; by default the domain's.

        Returns
        -------
        ServerTerms
            The terms.

        Raises
        ------
        ParameterError
            If a value lies outside its rule, or if the values contradict each other.

        Examples
        --------
        >>> terms = ServerTerms.of(Domain.unit(8), epsilon=1, n_min=100, n_max=1000)
        >>> terms.tree.size, terms.units, terms.roles
        (65536, 15, ('server 1', 'server 2'))
        """
        public_domain(domain)
        exact = read_epsilon(epsilon)
        units = max(UNITS, math.ceil(exact)) if units is None else units
        check(n_min=n_min, n_max=n_max, units=units, servers=servers)
        check_numbers(n_min, n_max)
        check_epsilon(exact)
        if servers < 2:
            raise ParameterError(f"There must be 2 servers or more; there were {servers}. Find another one to run one.")
        design = AdaptiveDesign.choose(domain, exact, Settings(design=AdaptiveDesign.name, depth=depth))
        check_cells(domain.count(design.last))
        terms = cls(domain, design, exact, int(units), int(n_min), int(n_max), int(servers))
        rates = [terms.rate(share) for share in design.possible_shares(domain)]
        if not _LEAST_RATE <= min(rates) <= max(rates) <= 1:
            raise ParameterError(
                "units must be at least epsilon and at most 10^15 times a question's part of it; they were "
                f"{units}. Leave them out."
            )
        return terms

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the parties, in order."""
        return tuple(f"server {i + 1}" for i in range(self.servers))

    @property
    def tree(self) -> Tree:
        """The finest cells, which devices send."""
        return tree_of(self.domain, self.design.last, self.design.last)

    @property
    def decision_loss(self) -> SummedLoss:
        """What the design knows of the noise: that of all servers together."""
        return SummedLoss(self.epsilon, servers=self.servers)

    def rate(self, spent: int) -> Fraction:
        """Compute the rate of each server's noise in answers with a share of epsilon.

        Parameters
        ----------
        spent : int
            The share.

        Returns
        -------
        Fraction
            Its part of epsilon over the units of a person.
        """
        return part(self.epsilon, spent) / self.units

    def to_dict(self) -> dict[str, Any]:
        """Describe the terms by plain values, for JSON.

        Returns
        -------
        dict
            A description that :meth:`from_dict` reads back. Some numbers follow from others, and are there for people
            to read.
        """
        return {
            "model": self.model,
            "domain": self.domain.to_dict(),
            "design": self.design.name,
            **self.design.to_dict(lambda share: part(self.epsilon, share)),
            "depth": self.design.last,
            "epsilon": str(self.epsilon),
            "units": self.units,
            "n_min": self.n_min,
            "n_max": self.n_max,
            "servers": self.servers,
            "cells": self.tree.size,
        }

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> ServerTerms:
        """Make the terms from their description.

        Parameters
        ----------
        description : dict
            What :meth:`to_dict` returned.

        Returns
        -------
        ServerTerms
            The same terms.
        """
        same = {name: description[name] for name in ("epsilon", "units", "n_min", "n_max", "servers", "depth")}
        return cls.of(Domain.from_dict(description["domain"]), **same)

    def release(self, measured: Measurements, participants: int, *, seeded: bool = False) -> Release:
        """Make the release of what the servers answered.

        Parameters
        ----------
        measured : Measurements
            The cells that were asked for, and the sums of all servers' answers.
        participants : int
            The number of contributions in them.
        seeded : bool, default False
            Whether the noise came from a seed; such a release is NOT PRIVATE.

        Returns
        -------
        Release
            A release like any other, whose label names the trust model.

        Raises
        ------
        PrivacyRefusal
            If there are fewer than ``n_min`` participants.
        """
        check_participants(participants, self.n_min)
        return Release(
            domain=self.domain, loss=PureLoss(self.epsilon), measurements=measured, design=self.design,
            units=self.units, seeded=seeded, trust=Trust("servers", participants),
            noise=LaplaceNoise(Fraction(self.servers)),
        )  # fmt: skip
