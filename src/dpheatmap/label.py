"""The privacy label: what a release promises, to whom, how strongly, and what it does not, in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpheatmap.budget import exact_text

if TYPE_CHECKING:
    from dpheatmap.release import LedgerEntry


class Promise(Protocol):
    """What the label speaks of: a release, or a map made from one."""

    @property
    def epsilon(self) -> Fraction:
        """How much may leak."""

    @property
    def seeded(self) -> bool:
        """Whether the noise can be computed."""

    @property
    def ledger(self) -> LedgerEntry | None:
        """Where it stands in a ledger, if it was charged to one."""


def privacy_label(release: Promise) -> Mapping[str, str]:
    """The label of a release, from its public facts alone.

    >>> odds_in_words(Fraction(1))
    '2.72'
    """
    epsilon = exact_text(release.epsilon)
    label = {
        "who": "Everybody whose rows went into it, and everybody whose rows did not: each person's whole data, all of "
        "their rows together, however many.",
        "from_what": "From anyone who sees the release and everything made from it, whatever else they know and "
        "however much they compute: they can hardly tell whether a person's data was used at all.",
        "how_strongly": f"Pure differential privacy with epsilon = {epsilon}: leaving one person's data out changes "
        f"the probability of any outcome by a factor of at most e^{epsilon} = {odds_in_words(release.epsilon)}. "
        "Replacing one person's data by other data counts as leaving out and adding, so twice that epsilon.",
        "not_promised": "Nothing is hidden that holds for people in general: a busy place is still shown as busy. "
        "People who share an id are protected as one, and one person with several ids is protected for each of them "
        "only. Every further release about the same people adds its epsilon to this one's. The domain, the "
        "settings and the time of making are public and not protected.",
        "budget": _budget(release),
    }
    if release.seeded:
        label["warning"] = "NOT PRIVATE: made with a seed, so the noise can be computed and taken off again."
    return label


def odds_in_words(epsilon: Fraction) -> str:
    """e^epsilon, for people."""
    if epsilon > 700:
        return "astronomically much"
    return f"{math.exp(epsilon):.3g}"


def _budget(release: Promise) -> str:
    """Whether somebody keeps account of what is spent on these people, and where this release stands there."""
    if release.ledger is None:
        return "No ledger keeps account of this release: nothing stops further ones about the same people."
    return (
        "Charged to a ledger of what is spent on these people, before any noise was drawn: entry "
        f"{release.ledger.number}, head of the chain {release.ledger.head}."
    )
