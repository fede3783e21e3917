"""The parser of single CSV records: their fields by RFC 4180, or nothing.

**Contract of `csv_rows`.** What a record gives, fields or "broken", is a function of its own bytes, of the delimiter
and of the header's number of columns. The proof is the code: `_fields` is handed the bytes of one record, which end
with a line feed at which each of its loops stops, and between two records nothing is kept but the next row's number and
the tallies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.curator.read.kernels import (
    CR,
    LF,
    LONGEST_ID,
    OPEN_QUOTE,
    OTHER_FIELDS,
    QUOTE,
    count_broken,
    count_empty,
    end_of_field,
    end_of_record,
    is_read,
    put_null,
    put_value,
)

NOT_CLOSED, MISPLACED = -2, -1


@njit(nogil=True, forceinline=True)
def _fields(b: Any, p: int, delimiter: Any, word: Any, slots: Any, spans: Any) -> int:
    """Read the fields of the record that begins at p. For a field with a slot, spans[slot] is (start, end), or end -1.

    Returns the number of fields, or a number below 0 that tells what is wrong with a quote.
    """
    width, column = len(slots), 0
    while True:
        if b[p] == QUOTE:
            s = p + 1
            q = s
            t = s  # where the next byte of the value goes: doubled quotes make it shorter
            while True:
                c = b[q]
                if c == LF:
                    return NOT_CLOSED
                if c == QUOTE:
                    if b[q + 1] != QUOTE:
                        break
                    q += 1
                if t != q:
                    b[t] = c
                t += 1
                q += 1
            e = t
            q += 1
            if b[q] != delimiter and b[q] != LF:
                return MISPLACED
        else:
            s = p
            q = end_of_field(b, p, word)
            if b[q] == QUOTE:
                return MISPLACED
            e = q if q > s else -1
        if column < width and slots[column] >= 0:
            spans[slots[column], 0] = s
            spans[slots[column], 1] = e
        column += 1
        if b[q] == LF:
            return column
        p = q + 1


@njit(nogil=True, cache=True)
def csv_rows(
    b: Any, p: int, stop: int, delimiter: Any, slots: Any, id_slot: int, views: Any, valid: Any, tally: Any
) -> int:
    """Read the records that begin in b[p:stop], and return how many rows they gave; ``id_slot`` is that of ids."""
    word = np.uint64(0x0101010101010101) * np.uint64(delimiter)
    spans = np.empty((len(views), 2), np.int64)
    row = 0
    while p < stop:
        start = p
        q, beyond_ascii = end_of_record(b, p)
        p = q + 1
        e = q - 1 if q > start and b[q - 1] == CR else q
        if e == start:
            count_empty(tally)
            continue
        problem = is_read(b, start, q, e, beyond_ascii)
        if problem == 0:
            b[e] = LF
            fields = _fields(b, start, delimiter, word, slots, spans)
            problem = 0 if fields == len(slots) else OPEN_QUOTE if fields == NOT_CLOSED else OTHER_FIELDS
        if problem != 0:
            count_broken(tally, start, problem)
            continue
        for k in range(len(views)):
            if spans[k, 1] < 0 or (k == id_slot and spans[k, 1] - spans[k, 0] > LONGEST_ID):
                put_null(views, k, row)
            else:
                put_value(views, valid, k, row, b, spans[k, 0], spans[k, 1])
        row += 1
    return row
