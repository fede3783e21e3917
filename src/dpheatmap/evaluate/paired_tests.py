"""Paired significance tests of two methods over the same people, corrected for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

LEVEL = 0.05


def paired_p(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The one-sided p-value of Student's paired test that the mean of ours is above that of theirs.

    >>> round(paired_p([3.0, 4.0, 5.5], [1.0, 2.5, 3.0]), 4)
    0.0101
    """
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    runs = len(differences)
    mean = math.fsum(differences) / runs
    variance = math.fsum((d - mean) ** 2 for d in differences) / (runs - 1)
    if variance == 0.0:
        return 0.5 if mean == 0.0 else float(mean < 0.0)
    return student_tail(mean / math.sqrt(variance / runs), runs - 1)


def student_tail(t: float, freedom: int) -> float:
    """P(T > t) of Student's law: for integer degrees of freedom a finite sum in the angle arctan(t / sqrt(freedom)).

    >>> round(student_tail(2.0, 1), 4), round(student_tail(2.0, 10), 4), student_tail(0.0, 7)
    (0.1476, 0.0367, 0.5)
    """
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2 == 0:
        term, total = 1.0, 1.0
        for k in range(1, freedom // 2):
            term *= (2 * k - 1) / (2 * k) * cosine**2
            total += term
        middle = sine * total
    else:
        term, total = cosine, cosine if freedom > 1 else 0.0
        for k in range(1, (freedom - 1) // 2):
            term *= 2 * k / (2 * k + 1) * cosine**2
            total += term
        middle = 2.0 / math.pi * (angle + sine * total)
    return 0.5 * (1.0 - middle)


def holm(p_values: Sequence[float]) -> list[bool]:
    """Holm's test: which null hypotheses are rejected, with a probability below `LEVEL` that any of them is true.

    >>> holm([0.001, 0.04, 0.03])
    [True, False, False]
    """
    rejected = [False] * len(p_values)
    for rank, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        if p_values[k] > LEVEL / (len(p_values) - rank):
            break
        rejected[k] = True
    return rejected
