"""Arithmetic in fields is that of Python's integers modulo a prime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.collect.vdaf.prime_field import FIELD64, FIELD128, BadEncoding, PrimeField
from dpheatmap.errors import DataError
from helpers.small_fields import FIELD17, SMALL

FIELDS = (FIELD64, FIELD128, *SMALL)
fields = st.sampled_from(FIELDS)


def numbers(field: PrimeField, **sizes: int) -> st.SearchStrategy[list[int]]:
    """Elements, of which many lie where words end and reductions begin."""
    edges = {0, 1, 2, 2**32, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 2**127, *(field.modulus - k for k in range(1, 4))}
    inside = sorted(edge for edge in edges if edge < field.modulus)
    return st.lists(st.sampled_from(inside) | st.integers(0, field.modulus - 1), **sizes)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", FIELDS)
def test_the_generator_has_its_order(field: PrimeField) -> None:
    assert pow(field.generator, 1 << field.two_adicity, field.modulus) == 1
    assert pow(field.generator, 1 << field.two_adicity - 1, field.modulus) == field.modulus - 1


def test_the_fields_are_the_drafts() -> None:
    assert FIELD64.modulus == 2**64 - 2**32 + 1
    assert FIELD128.modulus == 2**128 - 7 * 2**66 + 1
    assert (FIELD64.encoded_size, FIELD128.encoded_size) == (8, 16)


@given(st.data(), fields)
def test_sums_differences_and_products(data: st.DataObject, field: PrimeField) -> None:
    a = data.draw(numbers(field, min_size=1, max_size=9))
    b = data.draw(numbers(field, min_size=len(a), max_size=len(a)))
    p, left, right = field.modulus, field.of(a), field.of(b)
    assert field.integers(field.add(left, right)) == [(x + y) % p for x, y in zip(a, b, strict=True)]
    assert field.integers(field.subtract(left, right)) == [(x - y) % p for x, y in zip(a, b, strict=True)]
    assert field.integers(field.multiply(left, right)) == [x * y % p for x, y in zip(a, b, strict=True)]
    assert field.integers(field.sum(left)) == [sum(a) % p]
    assert field.integers(field.powers(left, 4)) == [pow(x, k, p) for x in a for k in range(4)]
    inner = sum(x * y for x, y in zip(a, b, strict=True)) % p
    assert field.integers(field.combine(left, right[:, None])) == [inner]


@pytest.mark.parametrize("field", SMALL)
def test_all_products_of_a_small_field(field: PrimeField) -> None:
    every = np.arange(field.modulus)
    a, b = (grid.ravel() for grid in np.meshgrid(every, every))
    products = field.multiply(field.of_array(a), field.of_array(b))
    assert products[:, 0].tolist() == (a * b % field.modulus).tolist()


@given(st.data(), fields, st.integers(0, 4))
def test_transforms_are_values_at_roots(data: st.DataObject, field: PrimeField, power: int) -> None:
    n = 1 << min(power, field.two_adicity)
    rows = [data.draw(numbers(field, min_size=2, max_size=2)) for _ in range(n)]
    root = field.root(n)
    values = field.transform(np.array([field.of(row) for row in rows]), root)
    for column in range(2):
        expected = [sum(row[column] * pow(root, i * j, field.modulus) for j, row in enumerate(rows)) for i in range(n)]
        assert field.integers(values[:, column]) == [value % field.modulus for value in expected]


@given(st.data(), fields)
def test_a_basis_evaluates_a_polynomial_anywhere(data: st.DataObject, field: PrimeField) -> None:
    """At roots as well, where a formula with quotients would fail."""
    n = data.draw(st.sampled_from([1, 2, 4]))
    coefficients = data.draw(numbers(field, min_size=n, max_size=n))
    point = data.draw(numbers(field, min_size=1, max_size=1) | st.just([field.root(n)]))
    values = field.transform(field.of(coefficients)[:, None], field.root(n))
    expected = sum(c * pow(point[0], k, field.modulus) for k, c in enumerate(coefficients)) % field.modulus
    assert field.integers(field.combine(field.basis(n, field.of(point)), values)) == [expected]


@given(st.data(), fields)
def test_encodings_are_little_endian_and_unique(data: st.DataObject, field: PrimeField) -> None:
    values = data.draw(numbers(field, max_size=5))
    encoded = field.encode(field.of(values))
    assert encoded == b"".join(value.to_bytes(field.encoded_size, "little") for value in values)
    assert field.integers(field.decode(encoded)) == values


@pytest.mark.parametrize("field", FIELDS)
def test_what_encodes_no_element_is_refused(field: PrimeField) -> None:
    """Else two encodings would be one element, and a device could choose which one is hashed."""
    for number in (field.modulus, 256**field.encoded_size - 1):
        with pytest.raises(BadEncoding):
            field.decode(bytes(field.encoded_size) + number.to_bytes(field.encoded_size, "little"))
    with pytest.raises(BadEncoding):
        field.decode(bytes(field.encoded_size + 1))


@given(st.lists(st.integers(-(2**62) + 1, 2**62 - 1), max_size=9))
def test_signed_integers_come_back(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    assert FIELD128.integers(FIELD128.of_array(array)) == [value % FIELD128.modulus for value in values]
    assert FIELD128.signed_integers(FIELD128.of(values)).tolist() == values
    assert FIELD64.signed_integers(FIELD64.of_array(array)).tolist() == values


@pytest.mark.parametrize("value", [2**62, -(2**62), 2**64, 2**127])
def test_what_is_no_count_is_not_decoded(value: int) -> None:
    with pytest.raises(DataError, match="are no counts"):
        FIELD128.signed_integers(FIELD128.of([1, value]))


@given(st.data(), fields)
def test_sums_of_ranges(data: st.DataObject, field: PrimeField) -> None:
    values = data.draw(numbers(field, max_size=8))
    ends = st.integers(0, len(values))
    ranges = [sorted(pair) for pair in data.draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=4))]
    starts, stops = np.array(ranges).T
    found = field.integers(field.sum_ranges(field.of(values), starts, stops))
    assert found == [sum(values[start:stop]) % field.modulus for start, stop in ranges]


def test_numbers_from_the_prime_on_are_passed_over() -> None:
    """The bits of 17 are five: numbers are cut to them, and 17 to 31 are left out."""
    drawn = np.array([3, 17, 31, 16, 32 + 5, 2**64 - 1 - 29], dtype="<u8").tobytes()
    assert FIELD17.integers(FIELD17.accept(drawn)) == [3, 16, 5, 2]
