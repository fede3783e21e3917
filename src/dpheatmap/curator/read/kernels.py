"""Compiled functions that CSV and JSON share: the end of a record, UTF-8, tallies, and Arrow views.

A block of bytes is private and writable, ends with a line feed, and has `PAD` bytes after it. Loads of eight bytes at a
time may reach beyond the end, and are masked before they count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.jit import load_eight, njit, trailing_zeros

LF, CR, QUOTE = 10, 13, 34
LONGEST = 2 << 20
"""Bytes of the longest record that is read; a longer one is broken."""
LONGEST_ID = 4096
"""Bytes of the longest id. A row with a longer one is nobody's: an engine that holds thousands of values at a time
would run out of memory, and one person would refuse everybody's release."""
PAD = 16
"""Bytes after a block that may be loaded and are never used."""

BROKEN, EMPTY, PLACE, PROBLEM, TALLIES = range(5)
"""Places in a tally: broken and empty records, and where the first broken one begins and what is wrong with it."""
TOO_LONG, NOT_UTF8, OPEN_QUOTE, OTHER_FIELDS, NOT_AN_OBJECT = range(1, 6)

_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_LINE_FEEDS, _QUOTES = _ONES * np.uint64(LF), _ONES * np.uint64(QUOTE)


@njit(nogil=True, forceinline=True)
def _equal(word: np.uint64, pattern: np.uint64) -> Any:
    """The high bits of bytes that may equal those of a pattern. The lowest one that is set is right."""
    difference = word ^ pattern
    return (difference - _ONES) & ~difference & _HIGHS


@njit(nogil=True, forceinline=True)
def end_of_record(b: Any, p: int) -> Any:
    """The position of the line feed of the record that begins at p, and whether a byte before it is not ASCII."""
    seen = np.uint64(0)
    while True:
        word = load_eight(b, p)
        found = _equal(word, _LINE_FEEDS)
        if found:
            low = trailing_zeros(found)
            before = word & ((np.uint64(1) << low) - np.uint64(1))
            return p + np.int64(low >> np.uint64(3)), ((seen | before) & _HIGHS) != 0
        seen = seen | word
        p += 8


@njit(nogil=True, forceinline=True)
def end_of_field(b: Any, p: int, delimiter: np.uint64) -> Any:
    """The position of the next delimiter (a byte, eight times), quote or line feed, from p on."""
    while True:
        word = load_eight(b, p)
        found = _equal(word, delimiter) | _equal(word, _QUOTES) | _equal(word, _LINE_FEEDS)
        if found:
            return p + np.int64(trailing_zeros(found) >> np.uint64(3))
        p += 8


@njit(nogil=True, cache=True)
def is_utf8(b: Any, p: int, e: int) -> bool:
    """Whether b[p:e] is well-formed UTF-8 (table 3-7 of the Unicode standard)."""
    while p < e:
        c = b[p]
        low, high = 0x80, 0xBF
        if c < 0x80:
            p += 1
            continue
        if 0xC2 <= c <= 0xDF:
            more = 1
        elif 0xE0 <= c <= 0xEF:
            more = 2
            if c == 0xE0:
                low = 0xA0
            elif c == 0xED:
                high = 0x9F
        elif 0xF0 <= c <= 0xF4:
            more = 3
            if c == 0xF0:
                low = 0x90
            elif c == 0xF4:
                high = 0x8F
        else:
            return False
        if p + more >= e or not low <= b[p + 1] <= high:
            return False
        for k in range(p + 2, p + more + 1):
            if not 0x80 <= b[k] <= 0xBF:
                return False
        p += more + 1
    return True


@njit(nogil=True, forceinline=True)
def is_read(b: Any, start: int, feed: int, end: int, beyond_ascii: bool) -> int:
    """0 if a record, of bytes up to its line feed and text up to its end, is short enough and text; else the reason."""
    if feed - start > LONGEST:
        return TOO_LONG
    return NOT_UTF8 if beyond_ascii and not is_utf8(b, start, end) else 0


@njit(nogil=True, forceinline=True)
def count_broken(tally: Any, start: int, problem: int) -> None:
    """Count a record that is left out."""
    if tally[BROKEN] == 0:
        tally[PLACE] = start
        tally[PROBLEM] = problem
    tally[BROKEN] += 1


@njit(nogil=True, forceinline=True)
def count_empty(tally: Any) -> None:
    """Count an empty record."""
    tally[EMPTY] += 1


@njit(nogil=True, forceinline=True)
def put_value(views: Any, valid: Any, k: int, row: int, b: Any, s: int, e: int) -> None:
    """Make b[s:e] the value of a row of column k: an Arrow view, which holds up to 12 bytes, or the place of more."""
    size = e - s
    low, high = load_eight(b, s), np.uint64(s) << np.uint64(32)  # a long value lies in the first, and only, buffer
    if size <= 12:
        rest = np.uint64(0)
        if size < 8:
            low &= (np.uint64(1) << np.uint64(8 * size)) - np.uint64(1)
        elif size > 8:
            rest = load_eight(b, s + 8) & ((np.uint64(1) << np.uint64(8 * (size - 8))) - np.uint64(1))
        high = (low >> np.uint64(32)) | (rest << np.uint64(32))
    views[k, row, 0] = np.uint64(size) | (low << np.uint64(32))
    views[k, row, 1] = high
    valid[k, row >> 3] |= np.uint8(1 << (row & 7))


@njit(nogil=True, forceinline=True)
def put_null(views: Any, k: int, row: int) -> None:
    """Leave a row of column k without a value."""
    views[k, row, 0] = 0
    views[k, row, 1] = 0
