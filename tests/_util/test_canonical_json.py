"""Canonical JSON: one text for one value, the same as JavaScript's."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap._util.canonical_json import canonical_json, strict_json


def test_keys_are_ordered_by_utf_16_units() -> None:
    """A letter beyond 2^16 begins with a surrogate, which comes before U+FB33, though its code point comes after."""
    keys = ["€", "\r", "\ufb33", "1", "😀", "\x80", "ö", ""]
    text = canonical_json(dict.fromkeys(keys, 0)).decode()
    assert list(json.loads(text)) == ["", "\r", "1", "\x80", "ö", "€", "😀", "\ufb33"]
    assert sorted(keys) != list(json.loads(text)), "the order of code points is another"


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("3ff8000000000000", "1.5"),
        ("4059000000000000", "100"),
    ],
)
def test_numbers_are_those_of_javascript(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value).decode() == text


def test_only_what_must_be_escaped_is() -> None:
    controls = "".join(map(chr, range(0x20)))
    text = canonical_json(controls + '"\\/\x7f€\u2028').decode()
    assert text == (
        r'"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f\u0010\u0011\u0012\u0013\u0014'
        r"\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"
        '\\"\\\\/\x7f€\u2028"'
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53, -(2**53), "\ud800", {"\udc00": 1}, {1: 2}, b"x", {1, 2}])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        canonical_json([value])


@pytest.mark.parametrize("text", [b'{"a":1,"a":1}', b'[{"b":{"a":1,"a":2}}]', b"[NaN]", b"[Infinity]", b"[1"])
def test_what_readers_read_differently_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"twice|finite|delimiter"):
        strict_json(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=10,
)  # fmt: skip


@given(VALUES)
def test_it_reads_back_and_is_its_own_canonical_form(value: Any) -> None:
    text = canonical_json(value)
    assert strict_json(text) == value
    assert canonical_json(strict_json(text)) == text
