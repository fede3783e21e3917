"""The questions of a collection with servers, and what was answered to them, as a chain of hashes.

The chain starts with the frozen set. Each question adds itself, and the answers of all servers to it. A server signs an
answer together with the hash of all that it has seen before, and the question. So two servers that saw different
answers, or agreed on different sets, find out at the next question, and whoever puts the release together finds out at
the end.

Everybody follows the same questions: each server for itself, to answer them, and whoever makes the release, to check
it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpheatmap.collect.additive_shares import WORD, Words, signed_integers
from dpheatmap.collect.possible_sums import PossibleSums
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.curator import Published, in_rows, walk
from dpheatmap.design.design import Question
from dpheatmap.design.shares import FARTHEST, in_whole_units
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements

DIGEST = 32


class ContributionSet(NamedTuple):
    """The set of contributions that a collection is about: their number, and a hash of their entries."""

    participants: int
    digest: bytes

    @classmethod
    def of(cls, entries: set[bytes]) -> ContributionSet:
        """The set of these entries."""
        return cls(len(entries), hashlib.sha256(b"".join(sorted(entries))).digest())

    @classmethod
    def from_bytes(cls, text: bytes) -> ContributionSet:
        """The set that `to_bytes` described."""
        return cls(int.from_bytes(text[:8], "little"), text[8 : 8 + DIGEST])

    def to_bytes(self) -> bytes:
        """40 bytes that describe it."""
        return self.participants.to_bytes(8, "little") + self.digest


class Step(NamedTuple):
    """A question with its number, from 1, and the hash of it and all that went before."""

    number: int
    digest: bytes
    asked: Question


Hear = Callable[[Step], list[Words]]
"""Gives the answers of all servers to a question, in order."""


class Transcript(NamedTuple):
    """What was measured, and the hash of all questions and answers."""

    measured: Measurements
    digest: bytes


def follow(terms: ServerTerms, agreed: ContributionSet, hear: Hear) -> Transcript:
    """Follow the questions of a collection to their end, each checked against what its paths have left.

    Answers that no people can have led to are an error (`possible_sums.py`).
    """
    digest, found = hashlib.sha256(agreed.to_bytes()).digest(), list[Published]()
    possible = PossibleSums(terms, agreed.participants)

    def answer(asked: Question) -> Ints:
        nonlocal digest
        here = hashlib.sha256(digest + _question_bytes(asked)).digest()
        answers = hear(Step(len(found) + 1, here, asked))
        noisy = noisy_counts(answers)
        possible.check(asked, noisy)
        found.append(Published(asked, noisy))
        digest = hashlib.sha256(here + b"".join(one.astype("<u8").tobytes() for one in answers)).digest()
        return in_whole_units(noisy, terms.units)

    walk(terms.design, terms.domain, terms.decision_loss, answer)
    return Transcript(in_rows(found), digest)


def noisy_counts(answers: list[Words]) -> Ints:
    """The noisy counts that the servers' answers add up to."""
    sums: Words = np.add.reduce(answers, axis=0, dtype=np.uint64)
    return np.clip(signed_integers(sums, WORD, 0), -FARTHEST, FARTHEST)


def _question_bytes(asked: Question) -> bytes:
    numbers = np.array([asked.level, asked.share, asked.left, len(asked.cells)])
    return np.concatenate([numbers, asked.cells]).astype("<i8").tobytes()
