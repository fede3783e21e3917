"""The parser of single GeoJSON features: the requested properties, and the x and y of a point, or nothing.

**Contract of `geojson_rows`.** As of `json_rows`: what a record gives is a function of its own bytes and of the keys
asked for. The objects inside of a feature, its geometry and its properties, are read by the same function as the
feature itself. For that, the byte behind such an object is a line feed for a moment, at which the function stops.

**Contract of `split_elements`.** It is handed the inside of a JSON array in pieces, with the state that the pieces
before left: the depth, and whether it is in a string. By the grammar of JSON, a comma outside of strings and brackets
is between two elements, and nothing else is. So if the array is JSON, each line that it makes is one element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.curator.read.json_records import (
    BRACE,
    BRACKET,
    COMMA,
    NULL,
    OTHER,
    TEXT,
    behind_blanks,
    behind_number,
    members,
)
from dpheatmap.curator.read.kernels import (
    CR,
    LF,
    LONGEST,
    LONGEST_ID,
    NOT_AN_OBJECT,
    PLACE,
    PROBLEM,
    QUOTE,
    count_broken,
    count_empty,
    end_of_record,
    is_read,
    put_null,
    put_value,
)

DEPTH, IN_STRING, ESCAPED, ENDED, STATES = range(5)
_BACKSLASH, _SEPARATOR, _MINUS = 92, 0x1E, 45
PARTS = np.frombuffer(b"geometryproperties\0", np.uint8), np.array([8, 18], np.int64)
SHAPE = np.frombuffer(b"typecoordinates\0", np.uint8), np.array([4, 15], np.int64)
"""The keys of a feature and of its geometry, as `json_rows` has those that are asked for."""
_POINT = np.frombuffer(b"Point\0", np.uint8)


@njit(nogil=True, cache=True)
def split_elements(b: Any, size: int, out: Any, state: Any) -> Any:
    """Write the elements in b[:size] as lines to ``out``; returns the bytes read and the bytes written.

    A line feed or carriage return between tokens becomes a blank. In a string, where JSON has none, it becomes another
    byte that JSON does not have there.
    """
    depth, in_string, escaped = state[DEPTH], state[IN_STRING], state[ESCAPED]
    w = 0
    p = 0
    while p < size:
        c = b[p]
        p += 1
        if in_string:
            if escaped:
                escaped = 0
            elif c == _BACKSLASH:
                escaped = 1
            elif c == QUOTE:
                in_string = 0
            out[w] = 1 if c in (LF, CR) else c
            w += 1
            continue
        if c == QUOTE:
            in_string = 1
        elif c in (BRACE, BRACKET):
            depth += 1
        elif c == BRACKET + 2 and depth == 0:
            state[ENDED] = 1
            break
        elif c in (BRACE + 2, BRACKET + 2):
            depth = max(0, depth - 1)  # one too many stays in its element, which is no JSON then
        elif c == COMMA and depth == 0:
            c = LF
        elif c in (LF, CR):
            c = 32
        out[w] = c
        w += 1
    state[DEPTH], state[IN_STRING], state[ESCAPED] = depth, in_string, escaped
    return p, w


@njit(nogil=True, cache=True)
def _object(b: Any, q: int, names: Any, ends: Any, spans: Any, kinds: Any, stack: Any) -> bool:
    """`members`, compiled once for all that call it here."""
    return bool(members(b, q, names, ends, spans, kinds, stack))


@njit(nogil=True, cache=True)
def _inner(b: Any, s: int, e: int, names: Any, ends: Any, spans: Any, kinds: Any, stack: Any) -> bool:
    """Read the object b[s:e] inside of a record; False if it is none."""
    kinds[:] = -1
    if b[s] != BRACE:
        return False
    behind = b[e]
    b[e] = LF
    found = _object(b, s, names, ends, spans, kinds, stack)
    b[e] = behind
    return found


@njit(nogil=True, cache=True)
def _is_number(b: Any, q: int) -> bool:
    return bool(b[q] == _MINUS or 48 <= b[q] <= 57)


@njit(nogil=True, cache=True)
def _point(b: Any, spans: Any, kinds: Any, xy: Any) -> bool:
    """Find the numbers of a point's coordinates: x is b[xy[0]:xy[1]], and y is b[xy[2]:xy[3]]."""
    s, e = spans[0, 0] + 1, spans[0, 1]
    if kinds[0] != TEXT or e - s != 5 or kinds[1] != OTHER or b[spans[1, 0]] != BRACKET:
        return False
    for k in range(5):
        if b[s + k] != _POINT[k]:
            return False
    q = behind_blanks(b, spans[1, 0] + 1)
    for k in range(2):
        if not _is_number(b, q):
            return False
        xy[2 * k] = q
        q, _ = behind_number(b, q)
        xy[2 * k + 1] = q
        q = behind_blanks(b, q)
        if k == 0:
            if b[q] != COMMA:
                return False
            q = behind_blanks(b, q + 1)
    return True


@njit(nogil=True, cache=True)
def geojson_rows(
    b: Any, p: int, stop: int, of_feature: Any, of_geometry: Any, names: Any, ends: Any, key_of: Any, is_id: Any,
    views: Any, valid: Any, tally: Any,
) -> int:  # fmt: skip
    """Read the features that begin in b[p:stop], and return how many rows they gave.

    Column k of a row is the property number ``key_of[k]``, as an id if ``is_id[k]``; -1 is x and -2 is y.
    ``of_feature`` and ``of_geometry`` are `PARTS` and `SHAPE`: as arguments they are of the same types as other keys,
    and the parser is compiled once.
    """
    spans, kinds = np.empty((len(ends), 2), np.int64), np.empty(len(ends), np.int64)
    parts, part_kinds = np.empty((2, 2), np.int64), np.empty(2, np.int64)
    shape, shape_kinds = np.empty((2, 2), np.int64), np.empty(2, np.int64)
    xy = np.empty(4, np.int64)
    stack = np.empty(len(b), np.uint8)
    row = 0
    while p < stop:
        start = p
        q, beyond_ascii = end_of_record(b, p)
        p = q + 1
        s = start
        if b[s] == _SEPARATOR:
            s += 1
        s = behind_blanks(b, s)
        if s == q and q - start <= LONGEST:
            count_empty(tally)
            continue
        problem = is_read(b, start, q, q, beyond_ascii)
        if problem == 0 and not _object(b, s, of_feature[0], of_feature[1], parts, part_kinds, stack):
            problem = NOT_AN_OBJECT
        if problem != 0:
            count_broken(tally, start, problem)
            if problem == NOT_AN_OBJECT and tally[PROBLEM] != NOT_AN_OBJECT:
                tally[PLACE], tally[PROBLEM] = start, problem
            continue
        shape_kinds[:] = -1
        if part_kinds[0] == OTHER:
            _inner(b, parts[0, 0], parts[0, 1], of_geometry[0], of_geometry[1], shape, shape_kinds, stack)
        is_point = _point(b, shape, shape_kinds, xy)
        kinds[:] = -1
        if part_kinds[1] == OTHER:
            _inner(b, parts[1, 0], parts[1, 1], names, ends, spans, kinds, stack)
        for k in range(len(key_of)):
            if key_of[k] < 0:
                at = 0 if key_of[k] == -1 else 2
                if is_point:
                    put_value(views, valid, k, row, b, xy[at], xy[at + 1])
                else:
                    put_null(views, k, row)
                continue
            kind, s, e = kinds[key_of[k]], spans[key_of[k], 0], spans[key_of[k], 1]
            if kind < 0 or kind == NULL or (is_id[k] and (kind == OTHER or e - s > LONGEST_ID)):
                put_null(views, k, row)
            else:
                put_value(views, valid, k, row, b, s + (kind == TEXT and not is_id[k]), e)
        row += 1
    return row
