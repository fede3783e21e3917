"""The parser of single JSON records: the values of the keys asked for, or nothing.

**Contract of `json_rows`.** What a record gives is a function of its own bytes and of the keys asked for. `members` is
handed the bytes of one record, which end with a line feed; a line feed is part of no JSON token, so each loop stops at
it. Between two records nothing is kept but the next row's number and the tallies.

A record is one object by RFC 8259. Blanks and a byte-order mark may precede it, and blanks may follow it. Anything else
is broken. An object that has a requested key twice counts as having none of the keys: it is a row without values. Other
keys and their values have no effect, however deeply they are nested. Keys are compared byte by byte, after their
escapes are undone.

Values are returned as text: strings without their escapes, numbers, lists and objects as they are written, null as
null. A string with a lone surrogate is not text, and becomes null. As an id a string keeps its opening quote, so that
"7" and 7 are two people. Only strings, whole numbers, true and false are ids; other values, and ids of over 4 kB, are
null.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.curator.read.kernels import (
    CR,
    LF,
    LONGEST,
    LONGEST_ID,
    NOT_AN_OBJECT,
    QUOTE,
    count_broken,
    count_empty,
    end_of_record,
    is_read,
    put_null,
    put_value,
)

_BACKSLASH, COMMA, _COLON, _MINUS, _POINT = 92, 44, 58, 45, 46
BRACE, BRACKET, _CLOSING = 123, 91, 2  # a closing one is two above its opening one
_NO_END = -1
TEXT, _WHOLE, _TRUTH, NULL, OTHER = 0, 1, 2, 3, 4


@njit(nogil=True, forceinline=True)
def behind_blanks(b: Any, q: int) -> int:
    """The place of the next byte that is no blank, from q on."""
    while b[q] == 32 or b[q] == 9 or b[q] == CR:
        q += 1
    return q


@njit(nogil=True, forceinline=True)
def _is_digit(c: int) -> bool:
    return 48 <= c <= 57


@njit(nogil=True, cache=True)
def _hex(b: Any, q: int) -> int:
    """The number of the four hexadecimal digits from q on; -1 if they are not digits."""
    value = 0
    for k in range(q, q + 4):
        c = b[k]
        if 48 <= c <= 57:
            value = value * 16 + c - 48
        elif 97 <= c | 32 <= 102:
            value = value * 16 + (c | 32) - 87
        else:
            return -1
    return value


@njit(nogil=True, forceinline=True)
def _behind_string(b: Any, q: int) -> Any:
    """The end of the string whose inside begins at q, after its quote, and whether it has escapes."""
    escaped = False
    while True:
        c = b[q]
        if c == QUOTE:
            return q + 1, escaped
        if c < 32:
            return _NO_END, escaped
        if c == _BACKSLASH:
            escaped = True
            q += 1
            c = b[q]
            if c == 117:  # u
                if _hex(b, q + 1) < 0:
                    return _NO_END, escaped
                q += 4
            elif c not in (QUOTE, _BACKSLASH, 47, 98, 102, 110, 114, 116):  # / b f n r t
                return _NO_END, escaped
        q += 1


@njit(nogil=True, cache=True)
def _unescape(b: Any, q: int, e: int) -> int:
    """Undo the escapes of b[q:e], the inside of a string, in place; returns its new end, or -1 if it is not text."""
    t = q
    while q < e:
        c = b[q]
        if c != _BACKSLASH:
            b[t] = c
            t += 1
            q += 1
            continue
        c = b[q + 1]
        q += 2
        if c != 117:
            b[t] = 8 if c == 98 else 12 if c == 102 else 10 if c == 110 else 13 if c == 114 else 9 if c == 116 else c
            t += 1
            continue
        code = _hex(b, q)
        q += 4
        if 0xD800 <= code < 0xE000:
            if code >= 0xDC00 or q + 6 > e or b[q] != _BACKSLASH or b[q + 1] != 117:
                return _NO_END
            second = _hex(b, q + 2)
            if not 0xDC00 <= second < 0xE000:
                return _NO_END
            code = 0x10000 + ((code - 0xD800) << 10) + second - 0xDC00
            q += 6
        if code < 0x80:
            b[t] = code
            t += 1
            continue
        more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
        b[t] = (0xC0 if more == 1 else 0xE0 if more == 2 else 0xF0) | code >> 6 * more
        for k in range(1, more + 1):
            b[t + k] = 0x80 | (code >> 6 * (more - k)) & 0x3F
        t += more + 1
    return t


@njit(nogil=True, cache=True)
def _behind_digits(b: Any, q: int) -> int:
    """The end of one or more digits from q on."""
    if not _is_digit(b[q]):
        return _NO_END
    while _is_digit(b[q]):
        q += 1
    return q


@njit(nogil=True, forceinline=True)
def behind_number(b: Any, q: int) -> Any:
    """The end of the number that begins at q, and whether it is written as a whole number."""
    if b[q] == _MINUS:
        q += 1
    q = q + 1 if b[q] == 48 else _behind_digits(b, q)
    whole = True
    if q > 0 and b[q] == _POINT:
        whole = False
        q = _behind_digits(b, q + 1)
    if q > 0 and b[q] | 32 == 101:  # e
        whole = False
        q += 1
        q = _behind_digits(b, q + 1 if b[q] == 43 or b[q] == _MINUS else q)
    return q, whole


@njit(nogil=True, forceinline=True)
def _behind_scalar(b: Any, q: int) -> Any:
    """The end of a value that is not a list or object, and its kind."""
    c = b[q]
    if c == QUOTE:
        q, _ = _behind_string(b, q + 1)
        return q, TEXT
    if c == _MINUS or _is_digit(c):
        q, whole = behind_number(b, q)
        return q, _WHOLE if whole else OTHER
    if c == 116 and b[q + 1] == 114 and b[q + 2] == 117 and b[q + 3] == 101:
        return q + 4, _TRUTH
    if c == 102 and b[q + 1] == 97 and b[q + 2] == 108 and b[q + 3] == 115 and b[q + 4] == 101:
        return q + 5, _TRUTH
    if c == 110 and b[q + 1] == 117 and b[q + 2] == 108 and b[q + 3] == 108:
        return q + 4, NULL
    return _NO_END, OTHER


@njit(nogil=True, forceinline=True)
def _behind_key(b: Any, q: int) -> int:
    """The start of the value whose key begins at q."""
    if b[q] != QUOTE:
        return _NO_END
    q, _ = _behind_string(b, q + 1)
    if q < 0:
        return _NO_END
    q = behind_blanks(b, q)
    return behind_blanks(b, q + 1) if b[q] == _COLON else _NO_END


@njit(nogil=True, cache=True)
def _skip_container(b: Any, q: int, stack: Any) -> int:
    """The end of the list or object that begins at q. The stack has room for as many levels as a record has bytes."""
    depth = 0
    while True:  # a value begins at q
        c = b[q]
        if c in (BRACE, BRACKET):
            stack[depth] = c
            depth += 1
            q = behind_blanks(b, q + 1)
            if b[q] != c + _CLOSING:
                if c == BRACE:
                    q = _behind_key(b, q)
                    if q < 0:
                        return _NO_END
                continue
        else:
            q, _ = _behind_scalar(b, q)
            if q < 0:
                return _NO_END
            q = behind_blanks(b, q)
        while b[q] == stack[depth - 1] + _CLOSING:
            depth -= 1
            q += 1
            if depth == 0:
                return q
            q = behind_blanks(b, q)
        if b[q] != COMMA:
            return _NO_END
        q = behind_blanks(b, q + 1)
        if stack[depth - 1] == BRACE:
            q = _behind_key(b, q)
            if q < 0:
                return _NO_END


@njit(nogil=True, forceinline=True)
def _number_of(b: Any, s: int, e: int, names: Any, ends: Any) -> int:
    """The number of the name that b[s:e] equals, among the concatenated names; -1 if none."""
    first = 0
    for k in range(len(ends)):
        size = ends[k] - first
        if size == e - s:
            same = True
            for j in range(size):
                if names[first + j] != b[s + j]:
                    same = False
                    break
            if same:
                return k
        first = ends[k]
    return -1


@njit(nogil=True, forceinline=True)
def members(b: Any, q: int, names: Any, ends: Any, spans: Any, kinds: Any, stack: Any) -> Any:
    """Read the object that begins at q. The value of name k is b[spans[k, 0]:spans[k, 1]], of kind kinds[k]."""
    kinds[:] = -1
    if b[q] != BRACE:
        return False
    q = behind_blanks(b, q + 1)
    if b[q] == BRACE + _CLOSING:
        return b[behind_blanks(b, q + 1)] == LF
    twice = False
    while True:
        if b[q] != QUOTE:
            return False
        s = q + 1
        q, escaped = _behind_string(b, s)
        if q < 0:
            return False
        e = _unescape(b, s, q - 1) if escaped else q - 1
        k = _number_of(b, s, e, names, ends)
        twice |= k >= 0 and kinds[k] >= 0
        q = behind_blanks(b, q)
        if b[q] != _COLON:
            return False
        s = behind_blanks(b, q + 1)
        kind = OTHER
        if b[s] == BRACE or b[s] == BRACKET:
            q = _skip_container(b, s, stack)
        else:
            q, kind = _behind_scalar(b, s)
        if q < 0:
            return False
        if k >= 0:
            e = q
            if kind == TEXT:
                e = _unescape(b, s + 1, q - 1)
                if e < 0:
                    kind = NULL
            spans[k, 0], spans[k, 1], kinds[k] = s, e, kind
        q = behind_blanks(b, q)
        if b[q] == BRACE + _CLOSING:
            if twice:
                kinds[:] = -1
            return b[behind_blanks(b, q + 1)] == LF
        if b[q] != COMMA:
            return False
        q = behind_blanks(b, q + 1)


@njit(nogil=True, cache=True)
def json_rows(
    b: Any, p: int, stop: int, names: Any, ends: Any, key_of: Any, is_id: Any, views: Any, valid: Any, tally: Any
) -> int:
    """Read the records that begin in b[p:stop], and return how many rows they gave.

    Column k of a row is the value of the key number ``key_of[k]``, as an id if ``is_id[k]``.
    """
    spans, kinds = np.empty((len(ends), 2), np.int64), np.empty(len(ends), np.int64)
    stack = np.empty(len(b), np.uint8)
    row = 0
    while p < stop:
        start = p
        q, beyond_ascii = end_of_record(b, p)
        p = q + 1
        s = start
        if b[s] == 0xEF and b[s + 1] == 0xBB and b[s + 2] == 0xBF:
            s += 3
        s = behind_blanks(b, s)
        if s == q and q - start <= LONGEST:
            count_empty(tally)
            continue
        problem = is_read(b, start, q, q, beyond_ascii)
        if problem == 0 and not members(b, s, names, ends, spans, kinds, stack):
            problem = NOT_AN_OBJECT
        if problem != 0:
            count_broken(tally, start, problem)
            continue
        for k in range(len(key_of)):
            kind, s, e = kinds[key_of[k]], spans[key_of[k], 0], spans[key_of[k], 1]
            if kind < 0 or kind == NULL or (is_id[k] and (kind == OTHER or e - s > LONGEST_ID)):
                put_null(views, k, row)
            else:
                put_value(views, valid, k, row, b, s + (kind == TEXT and not is_id[k]), e)
        row += 1
    return row
