"""The number of shares that hide a value among those of n people: a certified bound, and the paper's formula.

**Setting.** Each of n honest people splits a value x_i of Z_Q into r shares: r - 1 uniform ones, and one that makes
their sum x_i. All nr shares are shuffled. How much more than the sum of the x_i do they reveal?

**Step 1: label one share of each.** Whoever also sees who sent the last share u_i of each person knows more. The u_i
are uniform, and the other k = r - 1 shares are a uniform splitting of ``y_i = x_i - u_i``. So y is uniform on Z_Q^n and
known, and the question is how well nk shuffled shares tell y from another vector of the same sum.

**Step 2: the ideal.** Let V(y) be the law of the shuffled row w of nk shares, and M the uniform law on rows whose sum
is that of y. (u, M) depends on the x_i through their sum alone. So with ``tau = E_y TV(V(y), M)``, the view of the x_i
is within tau of one that only the sum goes into.

**Step 3: second moments.** By Cauchy and Schwarz ``2 TV(V(y), M) <= sqrt(sum over w of V(y)(w)^2 / M(w) - 1)``, and the
mean over y can go under the root. M(w) is Q^-(nk-1). A row was dealt to people by a random permutation, and given that,
it is uniform on the Q^(nk-n) rows whose groups have the sums y. So the square of V(y)(w) is a mean over *two*
independent dealings, and the mean over y of the sum over w is ``Q^(-2(nk-n)) Q^-n`` times the number of rows w for
which both dealings give everybody the same sum. Draw an arrow for each place of the row, from the person who has it in
the first dealing to the one who has it in the second. Equal sums are the equations "what leaves a vertex is what enters
it"; a graph with C components has n - C independent ones, each of which divides the number of rows by Q. Together,

    E_y sum over w of V(y)(w)^2 / M(w) = E[Q^(C-1)],

where C is the number of components of the random multigraph on n vertices in which each has k out-slots and k in-slots
that are matched at random. So ``tau <= sqrt(E[Q^(C-1)] - 1) / 2``.

**Step 4: to epsilon and delta.** m coordinates are m independent splittings: m tau. If the sum alone is epsilon-DP,
then for any event P(view) <= P(ideal) + m tau <= e^eps P'(ideal) + m tau <= e^eps (P'(view) + m tau) + m tau, so
``delta = (1 + e^eps) m tau``.

**Computing it.** There are (jk)! matchings of j vertices, so ``sum over matchings of Q^C = n! [x^n] G(x)^Q`` with
``G = sum over j of (jk)! / j! x^j`` (components with weight Q are ``exp(Q log G)``). That is exact and slow; tests
compare with it. Here, let kappa_j be the probability that j vertices are connected. The component of vertex 1 has size
j with ``p(n, j) = C(n-1, j-1) / C(nk, jk) kappa_j``, and the rest is such a graph on n - j vertices, so
``E_n - 1 = sum over j < n of p(n, j) (Q E_(n-j) - 1)`` for ``E_n = E[Q^(C-1)]``: positive terms, and nothing cancels.

More honest people than n only help: the bound for n of them holds whatever else is shuffled in, because whoever gets
the others' shares apart can mix them in. So for large n the bound of `MOST_PEOPLE` serves.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

MOST_PEOPLE = 1000
MOST_SHARES = 64
ROUNDING = 1.001
"""Far above the rounding errors of the recursion: logarithms of factorials are exact to 1e-9, and 1000 add up."""


@lru_cache(maxsize=256)
def distance(people: int, out_slots: int, modulus_bits: int) -> float:
    """An upper bound of tau, for k = ``out_slots`` and a modulus Q of ``2**modulus_bits``.

    >>> round(distance(50, 15, 17) * 102_400 * (1 + math.exp(5)), 7)
    6.6e-06
    """
    n, k, q = min(people, MOST_PEOPLE), out_slots, 2.0**modulus_bits
    log_factorials = np.array([math.lgamma(i + 1) for i in range(n * k + 1)])
    connected = np.ones(n + 1)
    excess = np.zeros(n + 1)  # E_j - 1
    with np.errstate(over="ignore"):
        for size in range(2, n + 1):
            j = np.arange(1, size)
            component = connected[j] * np.exp(
                _log_choose(log_factorials, size - 1, j - 1) - _log_choose(log_factorials, size * k, j * k)
            )
            connected[size] = max(0.0, 1.0 - component.sum())
            excess[size] = (component * (q * (1.0 + excess[size - j]) - 1.0)).sum()
    return ROUNDING * 0.5 * math.sqrt(excess[n])


def _log_choose(log_factorials: Floats, n: int, j: Ints) -> Floats:
    chosen: Floats = log_factorials[n] - log_factorials[j] - log_factorials[n - j]
    return chosen


def certified_delta(people: int, shares: int, modulus_bits: int, coordinates: int, epsilon: float) -> float:
    """The certified delta of so many shares of each coordinate, for so many honest people."""
    return (1.0 + math.exp(epsilon)) * coordinates * distance(people, shares - 1, modulus_bits)


def least_shares(people: int, modulus_bits: int, coordinates: int, epsilon: float, delta: float) -> int | None:
    """The least number of shares that gives delta or less; None if even `MOST_SHARES` are too few.

    >>> least_shares(50, 17, 102_400, 5.0, 1e-5)
    16
    """
    for shares in range(2, MOST_SHARES + 1):
        if certified_delta(people, shares, modulus_bits, coordinates, epsilon) <= delta:
            return shares
    return None


def paper_shares(people: int, modulus: float, coordinates: int, epsilon: float, delta: float) -> int:
    """The number of shares by the paper's formula, for comparison; its modulus is B n.

    >>> paper_shares(50, 256 * 50, 102_400, 5.0, 1e-5)
    18
    """
    top = 2 * math.log(math.exp(epsilon) + 1) + 2 * math.log(coordinates / delta) + math.log(modulus)
    return math.ceil(top / math.log(people) + 1)
