"""The rows of an answer in tree order, encoded as they come and sorted in place, by compiled loops.

Columns and rows of cells are never held for the whole answer: only codes and weights are, and the groups if there are
any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from threading import Event

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap._util.radix_sort import sort_together
from dpheatmap.curator.engines.answer import FIRST_COUNTER, Answer
from dpheatmap.place.quadtree import Ints, spread

_spread = njit()(spread)


def in_tree_order(rows: int, pieces: Iterable[Mapping[str, Ints]], stop: Event) -> Answer:
    """Make the answer of the statement's rows (cx, cy, weight, perhaps group_number), which come in pieces.

    The pieces are of any size and in any order, and have ``rows`` rows together. ``stop`` ends the sort early.
    """
    codes, weights = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    groups: Ints | None = None
    first = 0
    for piece in pieces:
        end = first + len(piece["weight"])
        encode_rows(piece["cx"], piece["cy"], codes[first:end])
        weights[first:end] = piece["weight"]
        if "group_number" in piece:
            groups = np.empty(rows, dtype=np.int64) if groups is None else groups
            groups[first:end] = piece["group_number"]
        first = end
    if first != rows:
        raise AssertionError("rows of the answer were lost or read twice; please report this")
    if groups is None:
        sort_together(codes, weights, stop)
    else:
        _sort_groups(groups, codes, weights, stop)
    return Answer(codes, weights, groups)


def _sort_groups(groups: Ints, codes: Ints, weights: Ints, stop: Event) -> None:
    """Sort rows by group, and those of each group by code: by both as one key, where it fits into 64 bits."""
    bits = int(codes.max() - FIRST_COUNTER).bit_length()
    if int(groups.max()).bit_length() + bits < 63:
        groups <<= bits
        groups += codes - FIRST_COUNTER
        sort_together(groups, weights, stop)
        np.bitwise_and(groups, (1 << bits) - 1, out=codes)
        codes += FIRST_COUNTER
        groups >>= bits
        return
    # How rows move depends on the keys alone, so codes and weights move alike.
    sort_together(groups.copy(), codes, stop)
    sort_together(groups, weights, stop)
    starts = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1))
    for start, end in pairwise([*starts.tolist(), len(groups)]):
        sort_together(codes[start:end], weights[start:end], stop)


@njit(cache=True, nogil=True)
def encode_rows(columns: Ints, rows: Ints, codes: Ints) -> None:
    """Write the Morton codes of cells, and the codes of counters, which have a column below zero."""
    for i in range(len(codes)):
        if columns[i] < 0:
            codes[i] = FIRST_COUNTER + rows[i]
        else:
            codes[i] = _spread(columns[i]) | (_spread(rows[i]) << 1)
