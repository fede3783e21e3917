"""Discoveries: a box that was found privately, the claim about it, and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import exact_text
from dpheatmap.releases.noise_law import LAPLACE, NoiseLaw
from dpheatmap.releases.trust import CURATOR, Trust

if TYPE_CHECKING:
    from dpheatmap.place.domain import Bounds, Domain
    from dpheatmap.releases.release import LedgerEntry


@dataclass(frozen=True)
class Discovery:
    """The result of :func:`dpheatmap.discover`: a public place for a release, paid for with ``epsilon``.

    Attributes
    ----------
    domain : Domain
        The box that was found, or the world if none was.
    found : bool
        Whether a box smaller than the world is claimed. It consists of whole map tiles.
    share : float
        The part of people's weight that the box is claimed to hold, at least.
    confidence : float
        The probability over the noise with which the claim holds, at least.
    loss : PureLoss
        The privacy loss of the search.
    people : float
        The noisy number of people, which may be below 0.
    ledger : LedgerEntry or None
        The entry of the ledger that the search was charged to.
    seeded : bool
        Whether the noise came from a seed; such a discovery is NOT PRIVATE.
    trust : Trust
        Who was trusted with the data, always a curator, and what is protected.
    noise : LaplaceNoise
        The law of the noise: always the discrete Laplace.
    """

    domain: Domain
    found: bool
    share: float
    confidence: float
    loss: PureLoss
    people: float
    ledger: LedgerEntry | None = None
    seeded: bool = False
    trust: Trust = CURATOR
    noise: ClassVar[NoiseLaw] = LAPLACE

    @property
    def epsilon(self) -> Fraction:
        """The price of the search."""
        return self.loss.epsilon

    @property
    def box(self) -> Bounds:
        """West, south, east and north in degrees, as ``Domain.bbox`` takes them."""
        return self.domain.extent

    @property
    def bbox(self) -> str:
        """The box as an option of the command line.

        Examples
        --------
        >>> from dpheatmap.place.domain import Domain
        >>> Discovery(Domain.bbox(5.625, 45, 11.25, 48.5), True, 0.95, 0.95, PureLoss.read(0.1), 1234.5).bbox
        '--bbox=5.625,45.0,11.25,48.5'
        """
        return self.domain.place.option

    @property
    def label(self) -> Mapping[str, str]:
        """The privacy label, in the form of a release's."""
        from dpheatmap.releases.label import privacy_label

        return privacy_label(self)

    @property
    def in_words(self) -> str:
        """The claim, in a sentence or two.

        Examples
        --------
        >>> from dpheatmap.place.domain import Domain
        >>> world = Domain.bbox(-180, -85, 180, 85)
        >>> print(Discovery(world, False, 0.95, 0.95, PureLoss.read(0.1), 12.3).in_words)
        No box smaller than the world can be claimed to hold 95 % of people with a confidence of 95 %: there are too \
few people for this epsilon, or they are everywhere. The noisy number of people is 12. This cost epsilon = 0.1.
        """
        share, confidence = (f"{100 * part:.10g} %" for part in (self.share, self.confidence))
        claim = (
            f"The box holds at least {share} of people, with a confidence of {confidence}."
            if self.found
            else f"No box smaller than the world can be claimed to hold {share} of people with a confidence of "
            f"{confidence}: there are too few people for this epsilon, or they are everywhere."
        )
        people = f"The noisy number of people is {self.people:.0f}."
        return f"{claim} {people} This cost epsilon = {exact_text(self.epsilon)}."

    def to_dict(self) -> dict[str, Any]:
        """Describe the discovery by plain values, for JSON.

        Returns
        -------
        dict
            The box, whether it was found, its share, confidence and epsilon, the noisy number of people, and the label.
        """
        return {
            "bbox": list(self.box),
            "found": self.found,
            "share": self.share,
            "confidence": self.confidence,
            "epsilon": str(self.epsilon),
            "people": self.people,
            "label": dict(self.label),
        }
