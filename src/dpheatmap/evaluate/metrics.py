"""Metrics of two heatmaps: similarity, correlation, divergence, and the earth mover's distance.

Each takes two maps of one shape, not necessarily square, of non-negative values that need not add up to 1: they are
normalised first. The maps are anything that ``numpy.asarray`` takes.
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Floats

__all__ = ["Bracket", "emd", "emd_norm", "kl", "pearson", "similarity"]

_TINY = 2.2204e-16  # the epsilon of the MIT saliency benchmark's divergence


class Bracket(NamedTuple):
    """Two bounds between which a number certainly lies.

    Attributes
    ----------
    lower : float
        The lower bound.
    upper : float
        The upper bound.
    """

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """The number halfway, which is at most half the bracket's width from the truth."""
        return self.lower + (self.upper - self.lower) / 2


def similarity(a: ArrayLike, b: ArrayLike) -> float:
    """Compute the mass that two maps share: the sum of the smaller of their values.

    Parameters
    ----------
    a, b : array of float or Heatmap
        Two maps of one shape.

    Returns
    -------
    float
        The similarity, from 0 (disjoint) to 1 (equal).

    Examples
    --------
    >>> similarity([[1, 1, 2]], [[0, 1, 1]])
    0.75
    """
    first, second = _normalise(a, b)
    return min(1.0, float(np.minimum(first, second).sum()))


def pearson(a: ArrayLike, b: ArrayLike) -> float:
    """Compute Pearson's correlation coefficient of the pixels of two maps.

    Parameters
    ----------
    a, b : array of float or Heatmap
        Two maps of one shape.

    Returns
    -------
    float
        The coefficient, from -1 to 1. It is 0 if a map is constant: the coefficient would be 0 / 0, and the map tells
        nothing about the other.

    Examples
    --------
    >>> round(pearson([[1, 2, 3]], [[2, 4, 7]]), 4)
    0.9934
    """
    first, second = (_standardise(values) for values in _normalise(a, b))
    return float(np.clip((first * second).sum(), -1.0, 1.0))


def kl(true: ArrayLike, estimate: ArrayLike) -> float:
    """Compute the Kullback-Leibler divergence of an estimate from the true map, as the MIT saliency benchmark does.

    Parameters
    ----------
    true : array of float or Heatmap
        The true map, h.
    estimate : array of float or Heatmap
        The estimate, h^, of the same shape.

    Returns
    -------
    float
        The divergence. It is not symmetric, and finite even where the estimate is 0.

    Notes
    -----
    The divergence is

        sum of h log(e + h / (h^ + e)),    e = 2.2204e-16.

    Examples
    --------
    >>> round(kl([[1, 1]], [[1, 3]]), 4)
    0.1438
    """
    h, guess = _normalise(true, estimate, names=("true", "estimate"))
    return float((h * np.log(_TINY + h / (guess + _TINY))).sum())


@overload
def emd(a: ArrayLike, b: ArrayLike) -> float: ...
@overload
def emd(a: ArrayLike, b: ArrayLike, tolerance: float) -> Bracket: ...
def emd(a: ArrayLike, b: ArrayLike, tolerance: float | None = None) -> float | Bracket:
    """Compute the earth mover's distance: the least work that turns one map into the other, mass times distance.

    Parameters
    ----------
    a, b : array of float or Heatmap
        Two maps of one shape.
    tolerance : float, optional
        The relative width of a bracket that is returned instead of the exact distance. On smooth maps a bracket is
        faster, the more so the larger they are.

    Returns
    -------
    float or Bracket
        The distance. With a tolerance, a bracket that holds it for certain, whose upper bound is at most 1 + tolerance
        times its lower one.

    Notes
    -----
    Distances are along the axes (L1) between the middles of square pixels, in units of the longer side. The exact
    distance is the optimum up to the rounding of the masses, which moves it by less than 1e-9 on maps of up to 512 x
    512 pixels.

    Examples
    --------
    >>> emd([[1, 0, 0, 0]], [[0, 0, 0, 1]])
    0.75
    >>> lower, upper = emd([[1, 0, 0, 0]], [[0, 0, 0, 1]], tolerance=0.001)
    >>> lower <= 0.75 <= upper <= 1.001 * lower
    True
    """
    from dpheatmap.flow import emd as solvers

    first, second = _check_pair(a, b)
    if tolerance is None:
        return solvers.exact(first, second)
    if not _is_tolerance(tolerance):
        raise ParameterError(
            f"tolerance must be a number from 0.000001 up; it was {tolerance!r}. It is the width of the bracket "
            "relative to its lower end; leave it out for the exact distance."
        )
    return Bracket(*solvers.bracket(first, second, float(tolerance)))


def emd_norm(v: ArrayLike) -> float:
    """Compute the EMD norm (alpha = 2) of a signed array, which is not normalised.

    Parameters
    ----------
    v : array of float
        The array, of rows and columns.

    Returns
    -------
    float
        The norm; distances are those of :func:`emd`.

    Notes
    -----
    The norm is the least of EMD(p, q) + 2 |v - (p - q)| over non-negative p and q of equal totals: mass is moved, or
    created or destroyed at a price of 2.

    Examples
    --------
    >>> emd_norm([[1.0, 0.0, 0.0, -3.0]])
    4.75
    """
    from dpheatmap.flow import emd as solvers

    values = _check_map("v", v)
    return solvers.norm(values)


def _is_tolerance(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and 1e-6 <= float(value) < np.inf


def _check_map(name: str, values: ArrayLike) -> Floats:
    """Check and convert a map to a two-dimensional array of finite floats."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{name} must be an array of numbers; it was a {type(values).__name__} that numpy can't read as one. "
            "Give a two-dimensional array, or a Heatmap."
        ) from error
    if array.ndim != 2 or array.size == 0:
        raise ParameterError(
            f"{name} must be an array of rows and columns; its shape was {array.shape}. "
            "Give a two-dimensional array, or a Heatmap."
        )
    if not np.isfinite(array).all():
        raise ParameterError(
            f"{name} must hold finite numbers; {int((~np.isfinite(array)).sum())} of its values were not finite. "
            "Replace them, by 0 where there is nothing."
        )
    return array


def _check_pair(a: ArrayLike, b: ArrayLike, names: tuple[str, str] = ("a", "b")) -> tuple[Floats, Floats]:
    """Check two maps: of one shape, non-negative, not all zero."""
    first, second = (_check_map(name, values) for name, values in zip(names, (a, b), strict=True))
    if first.shape != second.shape:
        raise ParameterError(
            f"{names[0]} and {names[1]} must have one shape; they had {first.shape} and {second.shape}. "
            "Render both maps at one size."
        )
    for name, values in zip(names, (first, second), strict=True):
        if values.min() < 0:
            raise ParameterError(
                f"{name} must not be negative anywhere; its least value was {values.min():g}. "
                "Clip it at 0, or compare signed arrays by emd_norm."
            )
        if not values.any():
            raise ParameterError(
                f"{name} must have a positive total; all of its values were 0. An empty map can't be compared."
            )
    return first, second


def _normalise(a: ArrayLike, b: ArrayLike, names: tuple[str, str] = ("a", "b")) -> tuple[Floats, Floats]:
    """Check two maps and normalise them to 1. Dividing by the largest value first keeps all totals finite."""
    first, second = (values / values.max() for values in _check_pair(a, b, names))
    return first / first.sum(), second / second.sum()


def _standardise(values: Floats) -> Floats:
    """Subtract a map's mean and scale it to length 1; zero if it is constant, up to the rounding of its mean."""
    centred = values - values.mean()
    length = np.sqrt((centred**2).sum())
    constant = values.min() == values.max() or length == 0
    scaled: Floats = np.zeros_like(values) if constant else centred / length
    return scaled
