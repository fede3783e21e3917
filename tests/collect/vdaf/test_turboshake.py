"""The sponge against a plain one, which is hashlib's SHAKE128 with twice the rounds."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.collect.vdaf.prime_field import FIELD128
from dpheatmap.collect.vdaf.turboshake import RATE, TurboShake128
from dpheatmap.collect.vdaf.xof import derive_seed, expand
from helpers.small_fields import FIELD97
from helpers.vdaf_reference import elements, framed, shake, turboshake

texts = st.binary(max_size=20) | st.builds(bytes, st.integers(RATE - 3, 2 * RATE + 3))


@given(texts, st.integers(0, 2 * RATE + 1))
def test_the_plain_sponge_is_that_of_hashlib(text: bytes, size: int) -> None:
    assert shake(text, 0x1F, size, 24) == hashlib.shake_128(text).digest(size)


@given(texts, st.lists(st.integers(0, RATE + 9), max_size=4))
def test_output_is_one_stream_however_it_is_read(text: bytes, sizes: list[int]) -> None:
    stream = TurboShake128(text)
    assert b"".join(stream.read(size) for size in sizes) == turboshake(text, sum(sizes))


@given(st.binary(max_size=9), st.binary(max_size=9), st.binary(min_size=32, max_size=32))
def test_seeds_and_elements_are_framed(tag: bytes, binder: bytes, seed: bytes) -> None:
    assert derive_seed(seed, tag, binder) == turboshake(framed(seed, tag, binder), 32)
    assert FIELD128.integers(expand(FIELD128, seed, tag, binder, 12)) == elements(seed, tag, binder, 12)


@given(st.binary(min_size=32, max_size=32), st.integers(1, 20))
def test_elements_of_a_small_field_are_those_of_the_stream_below_the_prime(seed: bytes, length: int) -> None:
    """Of 70 numbers fewer than 20 are below the prime with a probability of 10^-17."""
    text = turboshake(framed(seed, b"", b""), 8 * 70)
    low = [value for value in (byte & 127 for byte in text[::8]) if value < 97]
    assert FIELD97.integers(expand(FIELD97, seed, b"", b"", length)) == low[:length]
