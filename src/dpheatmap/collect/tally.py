"""The tally of the local model: sums of reports, and the noisy tree made from them.

With n reports, of which n_i are of level i, a cell's part of the n_i people is estimated without bias, and n times that
is its noisy count. Its variance includes that of the responses *and* that of the draw of people, and of their points,
for the level: the answers are independent draws, and their variance is estimated from the tally. The sums are over many
reports, so their law is nearly normal.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dpheatmap.collect.local import LocalTerms, Report
from dpheatmap.collect.randomised_response import malformed_report
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.noise_law import GaussianNoise
from dpheatmap.releases.release import Release
from dpheatmap.releases.trust import Trust

_UNKNOWN = 10.0
"""The standard deviation, in all people, of the cells of a level that nobody reported."""


class Tally:
    """Sums of reports on the same terms.

    >>> from dpheatmap.collect.local import report
    >>> from dpheatmap.place.domain import Domain
    >>> terms = LocalTerms.of(Domain.unit(4), epsilon=1)
    >>> tally = Tally(terms)
    >>> tally.add(report(terms, [0.2, 0.3, 7.0], [0.2, 0.2, 0.2]))
    >>> tally.release().trust.who
    'nobody'
    """

    def __init__(self, terms: LocalTerms) -> None:
        self.terms = terms
        self.numbers = dict.fromkeys(terms.responses, 0)
        self.tallies = {level: np.zeros(how.symbols, np.int64) for level, how in terms.responses.items()}

    @classmethod
    def of_words(cls, terms: LocalTerms, words: NDArray[np.int64]) -> Tally:
        """Make the tally from :meth:`words`."""
        tally, at = cls(terms), 0
        for level, how in terms.responses.items():
            tally.add_many(level, words[at + 1 : at + 1 + how.symbols], int(words[at]))
            at += 1 + how.symbols
        return tally

    def words(self) -> NDArray[np.int64]:
        """The whole tally as numbers: for each level the number of reports, and how often each symbol was told."""
        parts = [np.append(number, self.tallies[level]) for level, number in self.numbers.items()]
        return np.concatenate(parts).astype(np.int64)

    def add(self, sent: Report) -> None:
        """Add a report; one that does not fit this collection is an error and changes nothing."""
        self.add_all([sent])

    def add_all(self, sent: Iterable[Report]) -> None:
        """Add many reports; if one of them does not fit this collection, that is an error and none is added."""
        answers: dict[int, list[object]] = {}
        for level, answer in sent:
            how = self.terms.responses.get(level)
            if how is None:
                raise malformed_report()
            answers.setdefault(level, []).append(how.unpack(answer))
        for level, found in answers.items():
            self.add_many(level, self.terms.responses[level].tally(np.array(found)), len(found))

    def add_many(self, level: int, tally: Ints, number: int) -> None:
        """Add the tally of so many reports of a level."""
        self.tallies[level] = self.tallies[level] + tally
        self.numbers[level] += number

    @property
    def participants(self) -> int:
        """The number of reports that were added."""
        return sum(self.numbers.values())

    def release(self, *, seeded: bool = False) -> Release:
        """Make the release: the noisy tree, with the deviations of its noise. Later reports need a new one."""
        people = self.participants
        if people == 0:
            raise ParameterError("A tally must have one report at least to be released; it had none. Add reports.")
        counts, deviations = [], []
        for level, how in self.terms.responses.items():
            number = self.numbers[level]
            if number:
                part, deviation = how.estimate(self.tallies[level], number)
            else:
                part, deviation = np.zeros(how.size), np.full(how.size, _UNKNOWN)
            counts.append(np.rint(part * people * UNITS).astype(np.int64))
            deviations.append(np.ceil(deviation * people * UNITS).astype(np.int64))
        return Release.collected(
            self.terms.domain, self.terms.design, np.concatenate(counts), loss=PureLoss(self.terms.epsilon),
            trust=Trust("nobody", people), noise=GaussianNoise(), deviations=np.concatenate(deviations), seeded=seeded,
        )  # fmt: skip
