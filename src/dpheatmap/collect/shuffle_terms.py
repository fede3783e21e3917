"""The public terms of a collection in the shuffle model, which determine its arithmetic.

The number n_min of honest contributions sets the noise (each has 1 / n_min of a Laplace) and the
number r of shares. The number n_max that may arrive sets the modulus. A sum lies between -T and B n_max + T up to a
probability of `BETA`, with T from the tail of the noise of n_max people, and Q is the power of two above B n_max + 2T.
Wrapping around would spoil a value and reveal nothing. Delta covers what r shares reveal (`shuffle_bound.py`) and the
total variation distance of the noise from its exact law (`polya.py`). That distance, for each coordinate of each of
n_min people, moves the probability of any event on either side of the comparison, so it counts ``1 + e^epsilon`` times.

Neighbours differ in one participant's data, which is replaced by nothing. That somebody took part is not hidden from
those who receive contributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.collect.limits import check_cells, check_epsilon, check_numbers, check_participants
from dpheatmap.collect.polya import LARGEST_RATE, SMALLEST_RATE, TOTAL_VARIATION
from dpheatmap.collect.shuffle_bound import MOST_SHARES, least_shares
from dpheatmap.collect.tree import Tree, tree_of
from dpheatmap.curator import public_domain
from dpheatmap.design.paper import PaperDesign, all_at_once
from dpheatmap.design.privacy_loss import loss_of
from dpheatmap.design.settings import PAPER_WIDTH
from dpheatmap.design.shares import PAPER_DECAY, part, read_epsilon
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.noise_law import shuffled_noise
from dpheatmap.releases.release import Release
from dpheatmap.releases.trust import Trust

BETA = 1e-6
"""The probability that any of the sums leaves the range that the modulus has room for."""

MOST_BITS = 56


@dataclass(frozen=True)
class ShuffleTerms:
    """The public terms of a collection with a shuffler and an analyser, made by :meth:`of`.

    Attributes
    ----------
    domain : Domain
        The public place.
    design : PaperDesign
        The levels, all of which are measured at once, and their shares of epsilon.
    epsilon : Fraction
        How much may leak about a person.
    delta : Fraction
        The probability that more than epsilon leaks.
    units : int
        The number of units that one person's weight is rounded to: the paper's B.
    n_min : int
        The number of honest contributions that the promise needs.
    n_max : int
        The number of contributions that there is room for.
    """

    model: ClassVar[str] = "shuffle"
    domain: Domain
    design: PaperDesign
    epsilon: Fraction
    delta: Fraction
    units: int
    n_min: int
    n_max: int

    @classmethod
    def of(
        cls,
        domain: Domain,
        *,
        epsilon: object,
        n_min: int,
        n_max: int,
        delta: object = Fraction(1, 10**6),
        units: int = 256,
        width: int = PAPER_WIDTH,
        decay: float | Fraction = PAPER_DECAY,
        depth: int | None = None,
    ) -> ShuffleTerms:
        """Make the terms; refuse values that don't fit.

        Parameters
        ----------
        domain : Domain
            The public place.
        epsilon : number, str or Fraction
            How much may leak about a person, at most 100.
        n_min : int
            The number of honest contributions that the promise needs.
        n_max : int
            The number of contributions that there is room for.
        delta : number, str or Fraction, default 10^-6
            The probability that more than epsilon leaks.
        units : int, default 256
            The number of units that one person's weight is rounded to: the paper's B.
        width : int, default 20
            For experts: the number of cells that the first level has, at most.
        decay : float, default 1 / sqrt(2)
            For experts: the factor by which the levels' parts of epsilon fall.
        depth : int, optional
            The last level; by default the domain's.

        Returns
        -------
        ShuffleTerms
            The terms.

        Raises
        ------
        ParameterError
            If a value lies outside its rule, or if the values contradict each other.

        Examples
        --------
        >>> paper = ShuffleTerms.of(Domain.image(320, 240), epsilon=5, delta=1e-5, n_min=50, n_max=50)
        >>> paper.tree.size, paper.modulus_bits, paper.shares
        (102400, 17, 16)
        """
        public_domain(domain)
        check(n_min=n_min, n_max=n_max, width=width, decay=decay, units=units, delta=delta)
        if depth is not None:
            check(depth=depth)
        design = all_at_once(domain, width=int(width), decay=as_epsilon(decay), depth=depth)
        terms = cls(domain, design, read_epsilon(epsilon), as_epsilon(delta), int(units), int(n_min), int(n_max))
        terms.refuse()
        return terms

    def refuse(self) -> None:
        """Refuse terms that contradict each other or can't be kept.

        Raises
        ------
        ParameterError
            If there is a reason to; it says which.
        """
        check_numbers(self.n_min, self.n_max)
        check_epsilon(self.epsilon)
        if self.delta == 0:
            raise ParameterError("The shuffle model needs a delta above 0; it was 0. 1e-6 is a common choice.")
        check_cells(sum(self.domain.count(level) for level in self.design.shares))
        if not SMALLEST_RATE <= min(self.rates.values()) <= max(self.rates.values()) <= LARGEST_RATE:
            raise ParameterError(
                "units must be at least a level's part of epsilon and at most "
                f"{float(1 / SMALLEST_RATE):g} times that; they were {self.units}. Use others, or a larger epsilon."
            )
        if self.message_bits > MOST_BITS:
            raise ParameterError(
                f"A message must have at most {MOST_BITS} bits; it would have {self.message_bits}. Use fewer units."
            )
        _ = self.shares

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the parties, in order."""
        return "shuffler", "analyser"

    @property
    def tree(self) -> Tree:
        """The coordinates of everything that is summed."""
        return tree_of(self.domain, self.design.first, self.design.last)

    @cached_property
    def rates(self) -> dict[int, Fraction]:
        """The rate of the noise of each level: its part of epsilon over the units of a person."""
        return {level: part(self.epsilon, share) / self.units for level, share in sorted(self.design.shares.items())}

    @cached_property
    def farthest_noise(self) -> int:
        """T: a bound that the noise of all coordinates stays within, up to a probability of `BETA`.

        One Laplace of scale b exceeds T with the probability exp(-T / b). s of them, of n_max = s n_min people, exceed
        it with at most ``exp(-t T / b) (1 - t^2)^-s`` for any t below 1 (Chernoff), on each side.
        """
        logarithm = math.log(2 * self.tree.size / BETA)
        s = self.n_max / self.n_min
        if s > 1:
            logarithm = min((logarithm - s * math.log1p(-t * t)) / t for t in np.linspace(0.02, 0.98, 49).tolist())
        return math.ceil(logarithm / float(min(self.rates.values())))

    @property
    def largest_sum(self) -> int:
        """The largest value that a sum can have, noise included. A decoded value above it stands for a negative one."""
        return self.units * self.n_max + self.farthest_noise

    @property
    def modulus_bits(self) -> int:
        """The number of bits of a share: log2 of Q."""
        return (self.largest_sum + self.farthest_noise).bit_length()

    @cached_property
    def shares(self) -> int:
        """The number of shares that a value is split into: r."""
        drawn = self.n_min * self.tree.size * TOTAL_VARIATION
        spent_on_noise = (1 + math.exp(self.epsilon)) * float(drawn)
        found = least_shares(
            self.n_min, self.modulus_bits, self.tree.size, float(self.epsilon), float(self.delta) - spent_on_noise
        )
        if found is None:
            raise ParameterError(
                f"With n_min = {self.n_min} even {MOST_SHARES} shares of a value don't give a delta of "
                f"{float(self.delta):g}. Wait for more people, or use a larger delta."
            )
        return found

    @property
    def message_bits(self) -> int:
        """The number of bits of a message (coordinate, share)."""
        return (self.tree.size - 1).bit_length() + self.modulus_bits

    @property
    def payload_bytes(self) -> int:
        """The number of bytes that one person sends, before any encryption."""
        return -(-self.shares * self.tree.size * self.message_bits // 8)

    @property
    def published_words(self) -> int:
        """The number of 64-bit words of a published sum."""
        return self.tree.size

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
            "levels": [{"level": level, "share": share} for level, share in sorted(self.design.shares.items())],
            "width": self.design.width,
            "decay": str(self.design.decay),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "units": self.units,
            "n_min": self.n_min,
            "n_max": self.n_max,
            "coordinates": self.tree.size,
            "shares": self.shares,
            "modulus_bits": self.modulus_bits,
        }

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> ShuffleTerms:
        """Make the terms from their description.

        Parameters
        ----------
        description : dict
            What :meth:`to_dict` returned.

        Returns
        -------
        ShuffleTerms
            The same terms.
        """
        same = {name: description[name] for name in ("epsilon", "delta", "units", "n_min", "n_max", "width")}
        return cls.of(
            Domain.from_dict(description["domain"]), **same,
            decay=as_epsilon(description["decay"]), depth=description["levels"][-1]["level"],
        )  # fmt: skip

    def release(self, sums: Ints, participants: int, *, seeded: bool = False) -> Release:
        """Make the release of noisy sums.

        Parameters
        ----------
        sums : array of int
            The noisy sums, in the order of ``tree``.
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
        return Release.collected(
            self.domain,
            self.design,
            sums,
            loss=loss_of(self.epsilon, self.delta),
            trust=Trust("shuffler", participants),
            noise=shuffled_noise(participants, self.n_min),
            units=self.units,
            seeded=seeded,
        )
