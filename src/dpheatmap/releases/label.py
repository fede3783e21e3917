"""The privacy label of a release: what it promises, to whom, how strongly, and what it does not promise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpheatmap.design.shares import exact_text
from dpheatmap.releases.noise_law import least_devices
from dpheatmap.releases.trust import PERSON, UNITS

if TYPE_CHECKING:
    from dpheatmap.design.privacy_loss import PrivacyLoss
    from dpheatmap.releases.noise_law import NoiseLaw
    from dpheatmap.releases.release import LedgerEntry
    from dpheatmap.releases.trust import Trust


WEAK = 10
"""From this epsilon on, `docs/guides/choosing-epsilon.md` calls the promise a formality."""
WEAK_DELTA = Fraction(1, 1000)
"""From this delta on, it is one as well."""


HEADINGS = {
    "warning": "Warning",
    "who": "Who is protected",
    "from_what": "From what",
    "how_strongly": "How strongly",
    "trusted": "Who had to be trusted",
    "not_promised": "What is not promised",
    "budget": "What is kept account of",
    "priors": "What else was used",
    "slices": "What the slices are",
}
"""The parts of a privacy label, in the order in which people read them."""


class Promise(Protocol):
    """Anything that a label can be made for: a release, a discovery, or a map made from a release."""

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss."""

    @property
    def trust(self) -> Trust:
        """Who was trusted with the data."""

    @property
    def noise(self) -> NoiseLaw:
        """The law of the noise."""

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed, so that it can be subtracted."""

    @property
    def ledger(self) -> LedgerEntry | None:
        """The entry of the ledger that it was charged to, if there is one."""


def privacy_label(release: Promise) -> Mapping[str, str]:
    """The label of a release, from its public facts alone.

    >>> odds_in_words(Fraction(1))
    '2.72'
    """
    budget = "epsilon" if getattr(release.loss, "rho", None) is None else "rho"
    unit = release.trust.unit
    label = {
        "who": _PROTECTED[unit],
        "from_what": "From anyone who sees the release and everything made from it, whatever else they know and "
        f"however much they compute: they can hardly tell {_secret(release.trust)}.",
        "how_strongly": _strength(release),
        "trusted": _trust(release.trust, release.noise),
        "not_promised": "Nothing is hidden that holds for people in general: a busy place is still shown as busy. "
        f"{_ONLY[unit]} Every further release about the same people adds its {budget} to this one's. The domain, the "
        f"settings and the time of making are public and not protected.{_OPEN.get(release.trust.who, '')}",
        "budget": _budget(release),
    }
    if release.seeded:
        label["warning"] = "NOT PRIVATE: made with a seed, so the noise can be computed and taken off again."
    return label


def label_of_combination(together: Promise, releases: Sequence[Promise]) -> Mapping[str, str]:
    """The label of several releases in one; ``together`` has the sum of their losses."""
    label = dict(privacy_label(together))
    losses = ", ".join(str(release.loss) for release in releases[:-1])
    label["how_strongly"] = (
        f"Made from {len(releases)} releases, with {losses} and {releases[-1].loss}; for people who are in "
        f"all of them, they add up. {label['how_strongly']}"
    )
    for part in ("who", "trusted", "not_promised", "budget"):
        label[part] = " ".join(dict.fromkeys(privacy_label(release)[part] for release in releases))
    return label


_DATA = {
    PERSON: "a person's data",
    "row": "a row",
    "trip": "a trip",
    "file": "a file",
    "folder": "a folder's files",
    "creator": "a creator's files",
}
"""What is left out of a neighbouring table, by what is protected."""
_PROTECTED = {
    PERSON: "Everybody whose rows went into it, and everybody whose rows did not: each person's whole data, all of "
    "their rows together, however many.",
    "row": "Each row that went into it, and each that did not. The one who made it says that every row is another "
    "person's.",
    "trip": "Each trip that went into it, and each that did not: its start and its end together. Not each person: "
    "whoever made several trips is protected for each of them alone.",
    "file": "Each file that went into it, and each that did not: all points of the file together. Not each person: "
    "whoever has several files is protected for each of them alone.",
    "folder": "All files of each folder that went into it, and of each that did not, together. The one who made it "
    "says that every folder is another person's.",
    "creator": "All files of each creator that went into it, and of each that did not, together: whoever or whatever "
    "the files name as such. People who share a creator's name are protected as one.",
}
_SEVERAL_IDS = (
    "People who share an id are protected as one, and one person with several ids is protected for each of them only."
)
_ONLY = {
    unit: _SEVERAL_IDS
    if unit == PERSON
    else f"One person with several {unit}s is protected for each of them only: with k of them by k times that loss."
    for unit in UNITS
}


def _secret(trust: Trust) -> str:
    data = _DATA[trust.unit]
    return f"what {data} was, or whether there was any" if trust.collected else f"whether {data} was used at all"


_FORGED = " A dishonest device can send anything and distort the map; nothing here bounds by how much."
_OPEN = {
    "shuffler": f" Whose devices took part is not hidden.{_FORGED}",
    "servers": f" Whose devices took part is not hidden.{_FORGED}",
    "nobody": " Whose devices took part is not hidden. A dishonest device can distort the map by what a report weighs.",
}


def _strength(release: Promise) -> str:
    """Epsilon and delta, for which neighbours they hold, and what replacing one person's data costs."""
    epsilon, odds = exact_text(release.loss.epsilon), odds_in_words(release.loss.epsilon)
    cautions = (caution(release.loss.epsilon), _caution_of_delta(release.loss.delta))
    weak = "".join(f" {told}" for told in cautions if told)
    kind = f"Pure differential privacy with epsilon = {epsilon}"
    but, twice = "", "so twice that epsilon"
    if release.loss.delta:
        delta = exact_text(release.loss.delta)
        kind = f"Differential privacy with epsilon = {epsilon} and delta = {delta}"
        twice = "so twice that epsilon, and a larger delta"
        rho = getattr(release.loss, "rho", None)
        if rho is not None:
            kind = f"Zero-concentrated differential privacy with rho = {exact_text(rho)}, which is d{kind[1:]}"
            twice = "so twice that rho"
        but = f", but for a probability of at most {delta}"
    factor = f"the probability of any outcome by a factor of at most e^{epsilon} = {odds}{but}"
    if release.trust.who == "nobody":
        return f"{kind}, for each single report: other data of a person, or none, changes {factor}.{weak}"
    one = f"one{_DATA[release.trust.unit].removeprefix('a')}"
    return (
        f"{kind}: leaving {one} out changes {factor}. "
        f"Replacing {one} by other data counts as leaving out and adding, {twice}.{weak}"
    )


def _trust(trust: Trust, noise: NoiseLaw) -> str:
    """Who was trusted with people's data, and with what."""
    if trust.who == "curator":
        return "The one who made it, who had everybody's rows and added the noise."
    sent = f"{trust.participants:,} devices took part."
    if trust.who == "nobody":
        return f"Nobody: each device added noise of its own to its only report. {sent}"
    if trust.who == "servers":
        return (
            f"One of {noise.summed} servers, whichever: each saw numbers that look random and added noise of its "
            f"own. If all of them work together, they see everybody's data. {sent}"
        )
    return (
        "A shuffler that mixes all messages and no others, and does not work together with the one who adds them up; "
        f"and at least {least_devices(trust, noise)} of the devices: each added a part of the noise before it sent "
        f"anything. {sent}"
    )


def odds_in_words(epsilon: Fraction) -> str:
    """The factor e^epsilon, rounded to three digits."""
    if epsilon > 700:
        return "astronomically much"
    return f"{math.exp(epsilon):.3g}"


def caution(epsilon: Fraction) -> str | None:
    """The warning that goes with a large epsilon, or None for an epsilon that protects.

    >>> caution(Fraction(1)) is None
    True
    """
    if epsilon < WEAK:
        return None
    return (
        f"An epsilon of {WEAK} or more is a formality rather than a protection: whoever is after one person, and knows "
        "enough else, may become all but certain about them."
    )


def _caution_of_delta(delta: Fraction) -> str | None:
    """The warning that goes with a large delta; a loss of rho can be told at any, and at a large one looks small."""
    if delta < WEAK_DELTA:
        return None
    return (
        f"A delta of {exact_text(WEAK_DELTA)} or more is a formality, too: publishing the data of one person in "
        f"{int(1 / WEAK_DELTA):,} as it is would keep such a promise."
    )


def _budget(release: Promise) -> str:
    """The sentence that names the release's entry in a ledger, or says that there is none."""
    if release.ledger is None:
        return "No ledger keeps account of this release: nothing stops further ones about the same people."
    return (
        "Charged to a ledger of what is spent on these people, before any noise was drawn: entry "
        f"{release.ledger.number}, head of the chain {release.ledger.head}."
    )
