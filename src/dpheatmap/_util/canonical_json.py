"""Canonical JSON by RFC 8785 (JCS): one text for one value, in every language, so that it can be signed.

Keys are ordered by their UTF-16 code units, there is no white space, only what must be escaped is escaped, and numbers
are written as JavaScript writes them. A whole number of 2^53 or more, where JavaScript rounds, is refused, and so are
NaN, the infinities and text that is not Unicode.
"""

from __future__ import annotations

import json
import math
from typing import Any

_SAFE = 2**53
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPES = str.maketrans({chr(code): f"\\u{code:04x}" for code in range(0x20)} | _SHORT)


def canonical_json(value: Any) -> bytes:
    r"""Write a value of JSON's types in its canonical form; ValueError or TypeError if it has none.

    >>> canonical_json({"b": [1.0, 1e21, "é\n"], "a": None}).decode()
    '{"a":null,"b":[1,1e+21,"é\\n"]}'
    """
    return _text(value).encode()


def strict_json(text: bytes) -> Any:
    """Read JSON in which no key comes twice, because readers differ in which of the two they take.

    >>> strict_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: a key comes twice
    """
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=_whole)


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int):
        if abs(value) >= _SAFE:
            raise ValueError("a whole number of 2^53 or more")
        return str(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: _units(pair[0]))
        return "{" + ",".join(f"{_quote(key)}:{_text(member)}" for key, member in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    raise TypeError(f"JSON has no {type(value).__name__}")


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _units(key: object) -> bytes:
    """The UTF-16 code units of a key, which sort as bytes with the high one first."""
    if not isinstance(key, str):
        raise TypeError("a key that is not text")
    return key.encode("utf-16-be")


def _number(value: float) -> str:
    """Write a number as ECMAScript's Number::toString does.

    Python's ``repr`` has the same digits, the fewest that read back as this number, but other exponents: with k digits
    and the point after the n-th, JavaScript writes a plain number for -6 < n <= 21, and else d.ddde+x.
    """
    if not math.isfinite(value):
        raise ValueError("a number that is not finite")
    if value == 0:
        return "0"
    sign, mantissa = "-" if value < 0 else "", f"{abs(value)!r}e0".split("e")
    whole, _, after = mantissa[0].partition(".")
    after = after.rstrip("0")
    digits = (whole + after).lstrip("0")
    n = int(mantissa[1]) + len(digits) - len(after)
    digits = digits.rstrip("0")
    k = len(digits)
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return f"{sign}{digits[:n]}.{digits[n:]}"
    if -6 < n <= 0:
        return f"{sign}0.{'0' * -n}{digits}"
    fraction = f".{digits[1:]}" if k > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{n - 1:+d}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _whole(digits: str) -> int | float:
    """A whole number, which is a double to JavaScript."""
    return int(digits) if len(digits) < 16 else float(digits)


def _refuse_constant(name: str) -> None:
    raise ValueError("a number that is not finite")
