"""A server's answers: its shares of the cells that a question names, added up, and its own noise.

**Theorem.** Let one server be honest, and let all other servers, the operator, the network, all other devices and the
public work together. They may choose which contributions are summed, what the other servers answer, to whom and when,
each after seeing all that went before, and stop at any time. Of a participant whose device is honest they learn no more
than epsilon allows: for any two collections that differ in this person's data, one with and one with nothing, the
probabilities of everything that they see differ by a factor of at most exp(epsilon). (Up to telling a seed's stream
from uniform bytes, or opening a seal: `seed_shares.py`.)

**Proof.** Call them the adversary, and fix what it does in each situation; drawing at random is a mixture of such.

1. *Before the first answer* it sees the person's other shares, and which entries are on lists. The shares look uniform,
   whatever the person's numbers z are (`seed_shares.py`), and entries are hashes of ticket and nonce. So all of this
   has one law, with and without the person's data; fix it, too. The honest server has frozen its set by then, and never
   sums another one (`server.py`).
2. *One answer.* To a question about cells v with the share b of epsilon the server answers, for each v, ``S(v) + X mod
   2^64``, where S(v) is its sum of shares, and X a discrete Laplace of rate b / B that was drawn for this answer alone
   and is stored with it in one step. All shares of a person add up to z, so S(v) is ``z(v)`` plus numbers that the
   adversary knows, or that depend on other people only. For any value a of the answer, replacing z by nothing moves
   S(v) by z(v), and the probability of a is multiplied by at most ``exp(z(v) b / B)``: so it is for each integer that
   is a mod 2^64, and thus for their sum.
3. *All answers.* The next question is computed by the honest server itself, from terms that are public and from answers
   that it has stored: its own and those of the others, which are the adversary's. The adversary's are a function of
   what it has seen. So, with the adversary fixed, the next question is a function of the honest server's answers
   before, the same with and without the person. The probability of a sequence of answers is therefore the product of
   those of 2, and the ratio is at most ``exp(sum over answers of b_v z(v) / B)``. A question that comes again gets the
   stored answer, which adds no factor, and a question that is not the next one gets none. That "again" is so after a
   restart is not taken on trust: stored answers carry the hash of their question, and if another one has come in its
   place, as by a new version of this program, no further one is answered.
4. *Along the paths.* ``walk`` checks every question before it is answered, against what the paths through its cells
   have left (`curator/core/budget.py`), whatever answers it was fed. So the b_v on the path to each finest cell add up
   to at most epsilon, and by exchanging sums (`curator/core/measure.py`) the exponent is at most ``epsilon * sum of
   z(c) / B`` over finest cells c. An honest device has z >= 0 with the sum B or 0. So the ratio is at most
   exp(epsilon), and for removing the data as for adding it. Stopping early leaves a part of the sequence, to which the
   same applies. QED.

Nothing here uses that the noise of the other servers exists, that they answer the truth or tell everybody the same. A
liar spoils the map: `possible_sums.py` and `transcript.py` find out some of it.
"""

from __future__ import annotations

import os

import numpy as np

from dpheatmap.collect.additive_shares import Words
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.curator import DiscreteLaplace, Source, discrete_laplace
from dpheatmap.design.design import Question


class ShareSums:
    """A server's sums of its shares, over all contributions of the frozen set."""

    def __init__(self, terms: ServerTerms, finest: Words) -> None:
        self._terms, self._codes = terms, terms.domain.codes(terms.design.last)
        self._sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(finest, dtype=np.uint64)])

    def exact(self, asked: Question) -> Words:
        """The sums of shares in the cells that a question names, mod 2^64: in Morton order they are ranges."""
        finer = 2 * (self._terms.design.last - asked.level)
        start, end = np.searchsorted(self._codes, [asked.cells << finer, (asked.cells + 1) << finer])
        found: Words = self._sums[end] - self._sums[start]
        return found

    def answer(self, asked: Question, source: Source = os.urandom) -> Words:
        """Answer a question, with noise that is drawn for this answer."""
        law = discrete_laplace(self._terms.rate(asked.share))
        return self.exact(asked) + wrapped_noise(law, len(asked.cells), source)


def wrapped_noise(law: DiscreteLaplace, size: int, source: Source) -> Words:
    """Draw discrete Laplace noise mod 2^64."""
    noise = law.exact(size, source)
    return (noise % 2**64 if noise.dtype == object else noise).astype(np.uint64)
