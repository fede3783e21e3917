"""Bounds on the error: the paper's guarantees and its lower bound, with every constant worked out.

All errors are earth mover's distances between the released and the true distribution on the domain's finest cells, in
sides of the domain (its longer side), and expectations over the noise. They bound the worst case: real errors are far
smaller. ``docs/explanation/theory.md`` has the derivations in one piece; each function's notes hold its own.

s is the true sum of people's weights, n its total, P_i the matrix that adds up over the cells of level i, whose side is
2^-i root squares. Levels q .. L are measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from dpheatmap._util.parameters import check
from dpheatmap.design.dense import grid_level
from dpheatmap.design.shares import PAPER_DECAY, UNITS, read_epsilon
from dpheatmap.errors import DomainError
from dpheatmap.place.domain import Domain

__all__ = ["Bound", "Implied", "Term", "dense", "from_emd", "lower", "sparse"]


class Term(NamedTuple):
    """The part of a bound that belongs to one level.

    Attributes
    ----------
    level : int
        The level.
    error : float
        What it adds to the bound, in sides of the domain.
    """

    level: int
    error: float


@dataclass(frozen=True)
class Bound:
    """A bound on the expected error.

    Attributes
    ----------
    value : float
        The bound, in sides of the domain. No two distributions are further apart than 2 sides, so a value above 2 says
        nothing: there is too little data.
    terms : tuple of Term
        The parts of each level, which add up to the value.
    """

    value: float
    terms: tuple[Term, ...]


class Implied(NamedTuple):
    """What an earth mover's distance between two distributions implies for their heatmaps.

    Attributes
    ----------
    kl : float
        The Kullback-Leibler divergence, at most.
    total_variation : float
        The total variation distance, at most.
    similarity : float
        The similarity, at least.
    """

    kl: float
    total_variation: float
    similarity: float


def sparse(
    domain: Domain,
    epsilon: Any,
    users: int,
    *,
    width: int = 20,
    decay: float | Fraction = PAPER_DECAY,
    every_level: bool = False,
) -> Bound:
    """Bound the error of the paper's design and reconstruction for people in at most ``width`` finest cells.

    Parameters
    ----------
    domain : Domain
        The public place.
    epsilon : number, str or Fraction
        The epsilon of the release.
    users : int
        The number of people, n.
    width : int, default 20
        The number of cells that the design keeps at each level: the paper's w.
    decay : float, default 1 / sqrt(2)
        The factor by which the levels' parts of epsilon fall: the paper's gamma.
    every_level : bool, default False
        Whether every level from the top is measured, as in the paper's theorem. The parts of epsilon then fall by
        ``decay`` in both directions from q.

    Returns
    -------
    Bound
        The bound, and the term of each level.

    Notes
    -----
    The design starts at the first level q with about ``width`` cells. The bound of the version with ``every_level``
    grows like the square root of the width. Without the levels above q the bound grows like the width, because only
    these levels tie distant cells to each other. The steps are the paper's; their constants, and corrections where its
    proofs slip, are ours.

    1. *Recovery.* Let T_i be the cells measured on level i, S_i those kept, y^ the kept noisy values (times 2^-i), y*
       the values of any tree of at most ``width`` cells a level. Then, nu_i being the noise,

           B = |y^ - P s| <= 3 |y* - P s| + sum over i of 2^-i (|nu_i on S_i| + 2 |nu_i on U_i and V_i|),

       where V_i are measured cells of the tree that were not kept and U_i as many kept ones that are not the tree's. If
       people are in at most ``width`` cells, P s is such a tree itself, and the first term is 0.
    2. *Noise.* Which cells are kept depends on their noise, so its mean over S_i is not that of a fixed cell. But T_i
       depends on earlier levels only. Of t independent exponentials of mean 1 the k largest add up, in expectation, to
       A(k) = k (1 + H_t - H_k), H the harmonic numbers. With u = |U_i| = |V_i| <= min(w, t - w), cells of U_i count 3
       times, of V_i twice, others of S_i once: at most A(w + u) + A(2 u) + A(u), over eps_i.
    3. *Optimality.* The reconstruction s^ is nearest to y^, so X = |P (s - s^)| <= 2 B.
    4. *From levels to distance*: see `expansion`.

    Examples
    --------
    >>> square = Domain.unit(8)
    >>> sparse(square, 1, 10**6).value < sparse(square, 1, 10**5).value
    True
    """
    exact = _check_inputs(domain, epsilon, users, width=width, decay=decay)
    q = domain.first_level(int(width))
    first = domain.first_level(1) if every_level else q
    parts = {level: float(decay) ** abs(level - q) for level in range(first, domain.depth + 1)}
    factor = 2.0 * expansion(domain, first) / users
    terms, kept = [], domain.count(first)
    for level, weight in parts.items():
        measured = min(4 * kept, domain.count(level))
        kept = min(int(width), measured)
        noise = _largest_noise(measured, kept) * sum(parts.values()) / (weight * float(exact)) + 3 * measured / UNITS
        terms.append(Term(level, factor * 2.0**-level * noise))
    return Bound(_sum_of_terms(terms), tuple(terms))


def expansion(domain: Domain, first: int) -> float:
    """The factor K by which X, over n, bounds the distance of the normalised maps, in sides of the domain.

    Let z = s - s^ with total W, N = |P_q z|, X = sum over i from q to L of 2^-i |P_i z|, and z' = s - (n / |s^|) s^, of
    total 0. Wanted is the distance of z' over n; |P_i z'| <= |P_i z| + |W|. Moving the excess or deficit of a cell of
    level i to the middle of its parent costs 2^-i a unit. Once everything is in the middles of level q, half of
    |P_q z'| moves at most the diameter 2 h of these middles. Together

        n EMD <= h (N + |W|) + sum over i > q of 2^-i (|P_i z| + |W|)
              <= X + (h - 2^-q) N + (h + 2^-q - 2^-L) |W|.

    |W| <= N <= |P_i z|, as sums of parts, so both are at most X / sigma, sigma the sum of 2^-i over q .. L.
    """
    last, side, h = domain.depth, _longer_side(domain), _half_across(domain, first)
    sigma = 2.0 ** (1 - first) - 2.0**-last
    return float(1.0 + (max(h - 2.0**-first, 0.0) + h + 2.0**-first - 2.0**-last) / sigma) / side


def _largest_noise(measured: int, kept: int) -> float:
    """The expected weighted sum of step 2, in units of 1 / eps_i."""
    passed = min(kept, measured - kept)
    return sum(_sum_of_largest(measured, k) for k in (kept + passed, 2 * passed, passed))


def _sum_of_largest(number: int, k: int) -> float:
    """The expected sum of the k largest of so many independent exponentials of mean 1."""
    return k * (1.0 + math.fsum(1.0 / j for j in range(k + 1, number + 1)))


def dense(domain: Domain, epsilon: Any, users: int) -> Bound:
    """Bound the error of the dense design and reconstruction for any people, whose number is declared public.

    Parameters
    ----------
    domain : Domain
        The public place.
    epsilon : number, str or Fraction
        The epsilon of the release.
    users : int
        The number of people, n.

    Returns
    -------
    Bound
        The bound, and the terms of the levels. The last term is the error inside the cells of the grid.

    Notes
    -----
    Let the grid be level l. Inside a cell, people and an even spread are at most a cell's side apart: the last term.
    s on the grid, noisy y = s + nu, and s^ the nearest map: |s - s^| <= 2 |nu| in the EMD norm by the triangle
    inequality. Making or destroying mass costs alpha, twice the grid's longer side. For any z of total W and any level
    j <= l, whose cells' middles are at most 2 h apart, the norm is at most

        alpha |W| + h (|P_j z| - |W|) + sum over i from j + 1 to l of 2^-i (|P_i z| - |W|),

    for |W| of it can be left where it is, to be made or destroyed, and the rest moves up level by level, and across at
    level j; the best j is taken. The noise of a cell of level i is a sum of at most k = 4^(l - i) Laplaces, of mean
    absolute value 2 k C(2k, k) / 4^k, over epsilon. (Discrete ones are no larger: a Laplace is a difference of two
    exponentials, and an exponential its whole part, which is geometric, plus something independent of it. So it is
    a discrete Laplace plus something independent of mean 0, and that makes no mean absolute value smaller.)
    Normalising at most doubles what is then divided by n (the paper's Lemma 2.1, with 2 instead of 4): the norm of
    s - s^ is at least alpha times the difference of totals, and that is what rescaling s^ adds.

    Examples
    --------
    >>> square = Domain.unit(8)
    >>> dense(square, 1, 10**6).value < dense(square, 1, 10**5).value
    True
    """
    exact = _check_inputs(domain, epsilon, users)
    top, side = domain.first_level(1), _longer_side(domain)
    level = grid_level(domain, exact * int(users), top, domain.depth)
    factor = 4.0 / (users * side * float(exact))
    grid = domain.cells(level)
    alpha, total = 2.0 * max(grid.columns, grid.rows) / 2.0**level, _mean_of_sum(grid.count)
    noise = {i: domain.count(i) * _mean_of_sum(4 ** (level - i)) for i in range(top, level + 1)}

    def error_terms(stop: int) -> tuple[Term, ...]:
        h = _half_across(domain, stop)
        across = max(alpha - h - 2.0**-stop + 2.0**-level, 0.0) * total + h * noise[stop]
        up = (Term(i, factor * 2.0**-i * noise[i]) for i in range(stop + 1, level + 1))
        return Term(stop, factor * across), *up

    best = min(map(error_terms, noise), key=_sum_of_terms)
    terms = (*best, Term(level, 2.0**-level / side))
    return Bound(_sum_of_terms(terms), terms)


def _mean_of_sum(number: int) -> float:
    """The mean absolute value of a sum of so many Laplaces of scale 1, which is a difference of two gamma variables.

    >>> [round(_mean_of_sum(k), 9) for k in (1, 2)], round(_mean_of_sum(10**6) / 1000, 4)
    ([1.0, 1.5], 1.1284)
    """
    k = float(number)
    return 2.0 * math.exp(math.log(k) + math.lgamma(2 * k + 1) - 2 * math.lgamma(k + 1) - k * math.log(4.0))


def lower(domain: Domain, epsilon: Any, users: int, *, places: int | None = None) -> float:
    """Bound from below the expected error of every epsilon-DP algorithm, on the worst data.

    Parameters
    ----------
    domain : Domain
        The public place.
    epsilon : number, str or Fraction
        The epsilon of the algorithm.
    users : int
        The number of people, n.
    places : int, optional
        The number of finest cells that people may be in; by default any.

    Returns
    -------
    float
        An error, in sides of the domain, that no algorithm stays below for all people in so many places.

    Notes
    -----
    A packing: cut a square of the domain into t x t points, t a power of two. Each of the N = t^2 / 4 blocks of 2 x 2
    points holds the same mass, all of it on one of its points. By the Gilbert-Varshamov bound there are
    M >= 4^N / (sum over j < d of C(N, j) 3^j) such maps of which any two differ in d blocks or more: their distance is
    at least d / N times a step, 1 / t. Let m of the n people have one of these maps and the others be at one point, in
    N + 1 places together. Any two of these data sets have averages d m / (N t n) apart, so an output is within half of
    that of one of them at most.
    Leaving the m people out costs a factor of exp(epsilon m) in probability; so if an algorithm comes that near with
    probability p or more on each of the M data sets then M p exp(-epsilon m) <= 1. Hence on one of them the expected
    error is at least

        (1 - exp(epsilon m) / M) d m / (2 N t n),

    for every m <= n, d and t; the largest of those tried is returned. With many people it is about
    0.017 t / (epsilon n), which for 4^j + 1 places is 0.034 sqrt(places) / (epsilon n), and over all t about
    0.05 / sqrt(epsilon n).

    Examples
    --------
    >>> square = Domain.unit(8)
    >>> 0 < lower(square, 1, 10**4, places=100) < lower(square, 1, 10**4) < lower(square, 1, 1000)
    True
    """
    exact = _check_inputs(domain, epsilon, users)
    if places is not None:
        check(places=places)
    finest = domain.cells(domain.depth)
    deepest = min(finest.columns, finest.rows).bit_length() - 1
    best = 0.0
    for power in range(1, deepest + 1):
        if places is None or 4 ** (power - 1) + 1 <= places:
            best = max(best, _packing(float(exact), int(users), 2**power))
    return best * 2.0**deepest / max(finest.columns, finest.rows)


def _packing(epsilon: float, users: int, t: int) -> float:
    """The bound on a grid of t x t points in its sides, at the best of some distances of the code.

    With x = (d - 1) / N <= 3/4, the sum over j < d of C(N, j) 3^j is at most exp(N (h(x) + x log 3)), h the entropy.
    """
    blocks, best = t * t // 4, 0.0
    for distance in sorted({max(1, blocks * k // _DISTANCES) for k in range(1, 3 * _DISTANCES // 4)}):
        x = (distance - 1) / blocks
        entropy = -x * math.log(x) - (1.0 - x) * math.log(1.0 - x) if x > 0.0 else 0.0
        maps = blocks * (math.log(4.0) - entropy - x * math.log(3.0))
        for people in _people_to_change(epsilon, users, maps):
            sure = -math.expm1(min(epsilon * people - maps, 0.0))
            best = max(best, sure * distance * people / (2.0 * blocks * t * users))
    return best


_DISTANCES = 64  # tried up to 3/4 of the blocks; beyond that the bound gives no codes


def _people_to_change(epsilon: float, users: int, maps: float) -> tuple[int, int]:
    """The two whole numbers around the real m that maximises m (1 - exp(epsilon m - maps)); one of them is the best.

    y = 1 + epsilon m solves y + log y = 1 + maps, and the maximised function is concave in m.
    """
    y = 1.0 + maps
    for _ in range(6):  # Newton's steps
        y -= (y + math.log(y) - 1.0 - maps) / (1.0 + 1.0 / y)
    below = max(0, math.floor((y - 1.0) / epsilon))
    return min(users, below), min(users, below + 1)


def from_emd(emd: float, sigma: float) -> Implied:
    """Bound how far two heatmaps are apart if the distributions that they smooth have a given distance.

    Parameters
    ----------
    emd : float
        The earth mover's distance of the distributions, in sides of the square.
    sigma : float
        The smoothing of both heatmaps, in sides of the square.

    Returns
    -------
    Implied
        Bounds on the divergence, the total variation and the similarity of the heatmaps.

    Notes
    -----
    For heatmaps without edges (the paper's appendix B): bells of width sigma at distance d have KL at most
    d^2 / 2 sigma^2, and by Pinsker's inequality a total variation of at most d / 2 sigma. Both are convex, so along an
    optimal transport plan, with d^2 <= d_1 on the unit square, d_1 the distance along the axes,

        KL <= EMD / 2 sigma^2,   TV <= EMD / 2 sigma,   SIM = 1 - TV.

    The paper applies Pinsker after averaging and has TV <= sqrt(EMD) / 2 sigma, which is weaker below an EMD of 1.

    Examples
    --------
    >>> implied = from_emd(0.01, 0.05)
    >>> round(implied.kl, 9), round(implied.total_variation, 9), round(implied.similarity, 9)
    (2.0, 0.1, 0.9)
    """
    check(emd=emd, sigma=sigma)
    apart = min(1.0, emd / (2.0 * sigma), math.sqrt(emd) / (2.0 * sigma))
    return Implied(emd / (2.0 * sigma * sigma), apart, 1.0 - apart)


def _sum_of_terms(terms: Iterable[Term]) -> float:
    return math.fsum(term.error for term in terms)


def _half_across(domain: Domain, level: int) -> float:
    """Half the largest distance between middles of the level's cells, in root squares."""
    cells = domain.cells(level)
    return float((cells.columns + cells.rows - 2) / 2.0 ** (level + 1))


def _longer_side(domain: Domain) -> float:
    """The domain's longer side in root squares."""
    finest = domain.cells(domain.depth)
    return max(finest.columns, finest.rows) / 2.0**domain.depth


def _check_inputs(domain: object, epsilon: Any, users: int, **settings: Any) -> Fraction:
    if not isinstance(domain, Domain):
        raise DomainError("A bound is for a domain. Make one with Domain.bbox, Domain.image or Domain.unit.")
    check(users=users, **settings)
    return read_epsilon(epsilon)
