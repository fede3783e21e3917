"""The sampler bit by bit: certified cut points, inversion of given reals, integers only, streams that never repeat.

Nothing here is left to chance: `test_noise_law.py` tests the law of what is drawn.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import FrameType, ModuleType
from typing import Any

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from reference import real

from dpheatmap import quadtree
from dpheatmap.budget import UNITS, split_over_levels
from dpheatmap.curator import counts, measure, noise, noise_kernels
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.measure import measure_levels
from dpheatmap.curator.noise import BLOCK, HEAD, LARGEST, LIMIT, SMALL, DiscreteLaplace, Factor, exp_interval
from dpheatmap.domain import Domain
from dpheatmap.errors import ParameterError
from dpheatmap.quadtree import Ints
from dpheatmap.testing import SeededSource

WIDEST = Fraction(64, LARGEST - 1)  # the rate of the largest scale that is not refused
RATES = [
    Fraction(10**6),
    Fraction(3),
    Fraction(1, 2),
    Fraction(1, 50),
    Fraction(1, 1000),
    Fraction(7, 3 * 10**5),
    Fraction(1, 3 * 2**30),
    Fraction(1234567891, 2**62),
    WIDEST,
]
PRECISION = 1500  # bits that the references are computed with

each_rate = pytest.mark.parametrize("rate", RATES, ids=str)


def cut_points(rate: Fraction, digits: int) -> list[list[Any]]:
    """The head's and each digit's distribution function, summed up from the probabilities that the module states."""
    q, r = mpmath.exp(-real(rate)), mpmath.exp(-real(rate * 256**digits))
    head = [(1 - q) / (1 + q)]
    for k in range(HEAD):
        head += 2 * [q / (1 + q) * (1 - r) * r**k]
    head.append(q / (1 + q) * r**HEAD)
    laws = [head]
    for j in range(digits):
        p = mpmath.exp(-real(rate * 256**j))
        laws.append([p**d * (1 - p) / (1 - p**256) for d in range(255)])
    return [[mpmath.fsum(law[: k + 1]) for k in range(len(law))] for law in laws]


def floors(cuts: list[Any], bits: int) -> list[int]:
    """The first bits of each cut point."""
    return [int(mpmath.floor(mpmath.ldexp(cut, bits))) for cut in cuts]


class Script:
    """A source that hands out given 64-bit words, and zeros after the last."""

    def __init__(self, words: list[int]) -> None:
        self._words = list(words)

    def __call__(self, size: int) -> bytes:
        given, self._words = self._words[: size // 8], self._words[size // 8 :]
        return np.array(given + [0] * (size // 8 - len(given)), dtype=np.uint64).tobytes()


@settings(max_examples=300, deadline=None)
@given(
    numerator=st.integers(0, 2**80),
    denominator=st.integers(1, 2**80) | st.integers(0, 200).map(lambda k: 2**k),
    bits=st.integers(64, 700),
)
def test_exp_interval_holds_the_exponential_and_little_else(numerator: int, denominator: int, bits: int) -> None:
    x = Fraction(numerator, denominator)
    low, high = exp_interval(x, bits)
    with mp.workprec(bits + 400):
        value = mpmath.ldexp(mpmath.exp(-real(x)), bits)
        assert low <= value <= high
    assert 0 <= low
    assert high <= 2**bits
    assert high - low <= 4 * bits


def test_exp_interval_at_its_ends() -> None:
    assert exp_interval(Fraction(0), 256) == (2**256 - 1, 2**256)
    assert exp_interval(Fraction(10**6), 256) == (0, 1)
    assert exp_interval(Fraction(1, 10**200), 256) == (2**256 - 2, 2**256)


@each_rate
def test_the_floors_are_the_first_bits_of_the_cut_points(rate: Fraction) -> None:
    sampler = DiscreteLaplace(rate)
    with mp.workprec(PRECISION):
        for factor, cuts in zip(sampler._factors, cut_points(rate, sampler.digits), strict=True):
            assert factor.floors.tolist() == [min(floor, 2**64 - 1) for floor in floors(cuts, 64)]


@pytest.mark.parametrize("bits", [1, 2, 5, 9, 33, 63])
def test_narrow_floors_are_the_first_bits_too(bits: int) -> None:
    wide, narrow = (
        DiscreteLaplace(Fraction(1, 1000), word_bits=word, table_bits=0, head=head)
        for word, head in [(64, 3), (bits, 3)]
    )
    for a, b in zip(wide._factors, narrow._factors, strict=True):
        assert (a.floors >> np.uint64(64 - bits)).tolist() == b.floors.tolist()


def invert(factor: Factor, word: int, tail: list[int]) -> int:
    """A factor's outcome for the real number whose binary digits are a word's and the tail's, by table if it can."""
    shift = factor._word_bits - factor._table_bits
    first = word >> shift
    known = int(factor.table[first])
    return known if known >= 0 else int(factor.resolve(np.array([first], dtype=np.uint16), Script([word, *tail]))[0])


@pytest.mark.parametrize("table_bits, word_bits", [(16, 64), (4, 64), (2, 5), (0, 1), (8, 8)])
@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1, 2), Fraction(1, 50), Fraction(7, 3 * 10**5)], ids=str)
def test_inversion_is_exact_on_both_sides_of_every_cut(rate: Fraction, table_bits: int, word_bits: int) -> None:
    """U runs along the cut points' own digits, for 20 to 400 bits, and then passes below or above."""
    sampler = DiscreteLaplace(rate, table_bits=table_bits, word_bits=word_bits)
    words, total = 7, word_bits + 7 * 64
    with mp.workprec(PRECISION):
        for factor, cuts in zip(sampler._factors, cut_points(rate, sampler.digits), strict=True):
            exact = floors(cuts, total)
            for k in range(0, len(cuts), 5):
                for agreed in (20, word_bits, 64, 130, 400):
                    for step in (-1, 0, 1):
                        u = ((exact[k] >> (total - agreed)) + step) << (total - agreed)
                        if not 0 <= u < 1 << total:
                            continue
                        tail = [u >> 64 * i & (2**64 - 1) for i in reversed(range(words))]
                        at_most = int(np.searchsorted(np.array(exact, dtype=object), u))  # cut <= U iff its floor < U
                        assert invert(factor, u >> 64 * words, tail) == at_most


@pytest.mark.parametrize("rate", RATES[1:], ids=str)
def test_few_samples_put_the_inverted_factors_together(rate: Fraction) -> None:
    """One sample from given words, at and beside the cut points' floors, with ties broken by one more word."""
    sampler, random = DiscreteLaplace(rate), np.random.default_rng(5)
    with mp.workprec(PRECISION):
        exact = [floors(cuts, 128) for cuts in cut_points(rate, sampler.digits)]
    for _ in range(300):
        reals = []
        for cuts in exact:
            word = (cuts[random.integers(min(len(cuts), 60))] >> 64) + int(random.integers(-1, 2))
            reals.append(max(0, min(word, 2**64 - 1)) << 64 | int.from_bytes(random.bytes(8), "big"))
        ties = [u & (2**64 - 1) for u, cuts in zip(reals, exact, strict=True) if u >> 64 in {cut >> 64 for cut in cuts}]
        head, *digits = (sum(cut < u for cut in cuts) for u, cuts in zip(reals, exact, strict=True))
        magnitude = 1 + (head - 1) // 2 * 256**sampler.digits + sum(d * 256**j for j, d in enumerate(digits))
        wanted = 0 if head == 0 else magnitude if head % 2 else -magnitude
        drawn = sampler.sample(1, Script([*(u >> 64 for u in reals), *ties]))
        assert drawn.tolist() == [max(-LARGEST, min(LARGEST, wanted))]


@each_rate
@pytest.mark.parametrize("size", [0, 1, SMALL - 1, SMALL, BLOCK + 1, 2 * BLOCK + SMALL])
def test_every_sample_is_written(rate: Fraction, size: int) -> None:
    """U = 0 gives 0; U = 0.111... gives the last outcome of every factor, HEAD or more, and no further success."""
    sampler = DiscreteLaplace(rate)
    last = -min(LARGEST, (HEAD + 1) * sampler.block)
    assert sampler.sample(size, lambda n: bytes(n)).tolist() == [0] * size
    if size < BLOCK:  # each of these takes the way of one chance in e^64, in Python
        assert sampler.sample(size, lambda n: b"\xff" * n).tolist() == [last] * size


@pytest.mark.parametrize("size", [1, 100, SMALL])
def test_a_source_that_runs_dry_is_an_error_and_never_less_noise(size: int) -> None:
    with pytest.raises(ValueError, match="buffer"):
        DiscreteLaplace(Fraction(1, 1000)).sample(size, lambda n: os.urandom(n)[: n // 2])


@settings(max_examples=300, deadline=None)
@given(
    digits=st.integers(0, 7),
    heads=st.lists(st.tuples(st.integers(0, 2 * HEAD + 2), st.integers(0, 2**56 - 1)), min_size=1, max_size=20),
)
def test_finish_assembles_signed_noise_without_overflow(digits: int, heads: list[tuple[int, int]]) -> None:
    block = 256**digits
    totals = np.array([[head for head, _ in heads], [low % block for _, low in heads]], dtype=np.int64)
    drawn = np.empty(len(heads), dtype=np.int64)
    noise_kernels.finish(totals, block, LARGEST, drawn)
    for (head, low), got in zip(heads, drawn.tolist(), strict=True):
        magnitude = min(LARGEST, 1 + (head - 1) // 2 * block + low % block)
        assert got == (0 if head == 0 else magnitude if head % 2 else -magnitude)


@settings(max_examples=500)
@given(
    counts=st.integers(0, LIMIT) | st.integers(LIMIT - 10, 2**63 - 1),
    unbounded=st.integers(-(2**70), 2**70) | st.integers(LARGEST - 5, LARGEST + 5) | st.integers(LIMIT - 5, LIMIT + 5),
    sign=st.sampled_from([-1, 1]),
)
def test_saturating_add_gives_what_unbounded_noise_would(counts: int, unbounded: int, sign: int) -> None:
    drawn = max(-LARGEST, min(LARGEST, sign * unbounded))
    got = noise.saturating_add(np.array([counts], dtype=np.int64), np.array([drawn], dtype=np.int64))
    assert got.dtype == np.int64
    assert got.tolist() == [max(-LIMIT, min(LIMIT, min(counts, LIMIT) + sign * unbounded))]


def test_an_epsilon_too_small_is_refused_and_the_next_one_samples() -> None:
    for rate in (Fraction(64, LARGEST), Fraction(1, 10**400), Fraction(0), Fraction(-1)):
        with pytest.raises(ParameterError, match="epsilon is too small"):
            DiscreteLaplace(rate)
    assert len(set(DiscreteLaplace(WIDEST).sample(SMALL).tolist())) == SMALL
    with pytest.raises(ParameterError, match="scale of 2\\^56 units or more"):
        measure_levels(one_cell(), Fraction(64 * UNITS, LARGEST), {0: 2**32}, 1)
    assert len(measure_levels(one_cell(), Fraction(64 * UNITS, LARGEST - 1), {0: 2**32}, 1).counts) == 1


def one_cell() -> Counts:
    """A domain of one cell with one person in it."""
    zero = np.zeros(1, dtype=np.int64)
    return Counts.from_cells(Domain.unit(0), zero, zero, zero + UNITS)


# Integers only.

INTEGER_MODULES = [noise, noise_kernels, measure, counts, quadtree]
FLOATS = re.compile(r"\b(double|float|half|f(?:add|sub|mul|div|rem|cmp|neg|ma)|[su]itofp|fpto[su]i|fpext|fptrunc)\b")


def llvm(function: Callable[..., Any], signature: tuple[Any, ...]) -> str:
    """What numba makes of a function, compiled afresh: nothing can be inspected of what comes from its cache."""
    compiled: Any = numba.njit(function)
    compiled.compile(signature)
    return str(compiled.inspect_llvm(signature))


def test_the_kernels_compile_to_integer_code() -> None:
    for size in (1, SMALL):
        DiscreteLaplace(Fraction(1, 1000)).sample(size)
    for kernel in (noise_kernels.look_up, noise_kernels.search, noise_kernels.finish):
        signatures = kernel.signatures  # type: ignore[attr-defined]
        assert len(signatures) == 1  # one for all that a sampler ever passes
        assert not FLOATS.search(llvm(kernel.py_func, signatures[0]))  # type: ignore[attr-defined]


def test_a_float_in_a_kernel_would_be_seen() -> None:
    mixed = (numba.int64[::1], numba.uint64[::1])  # numba adds these two as floats
    assert FLOATS.search(llvm(lambda a, b: a[0] + b[0] > 3, mixed))


def float_syntax(source: str) -> set[str]:
    """The places in a source text where a float could come from: literals, ``/``, and the names of what makes floats."""
    makers = {"float", "float16", "float32", "float64", "floating", "double", "complex", "math", "random", "divide"}
    makers |= {"true_divide", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "mean", "average", "var", "std"}
    makers |= {"rint", "round", "linspace", "interp", "percentile", "quantile", "median"}
    found = set()
    for node in ast.walk(ast.parse(source)):
        name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "name", None)
        divides = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
        if divides or name in makers or (isinstance(node, ast.Constant) and isinstance(node.value, float | complex)):
            found.add(ast.unparse(node))
    return found


@pytest.mark.parametrize("module", INTEGER_MODULES, ids=lambda module: module.__name__)
def test_no_float_is_written_between_counts_and_noisy_counts(module: ModuleType) -> None:
    fractions = {"part(epsilon, share) / UNITS"}
    assert float_syntax(inspect.getsource(module)) <= fractions


@pytest.mark.parametrize(
    "text", ["x = 1.5", "x /= 2", "np.exp(x)", "import math", "x.astype(float)", "np.float64", "a / b"]
)
def test_a_written_float_would_be_seen(text: str) -> None:
    assert float_syntax(text)


def is_inexact(value: object) -> bool:
    """Whether a value is a float or holds floats."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind not in "iub"
    if isinstance(value, tuple | list):
        return any(map(is_inexact, value))
    return isinstance(value, float | complex)


def watched(work: Callable[[], object], modules: list[ModuleType]) -> tuple[set[str], set[str]]:
    """The functions of the modules that ran during the work, and where one of them held or returned a float."""
    names, ran, inexact = {module.__name__ for module in modules}, set(), set()

    def watch(frame: FrameType, event: str, result: object) -> None:
        if event == "return" and frame.f_globals.get("__name__") in names:
            ran.add(frame.f_code.co_name)
            values = {**frame.f_locals, "return": result}
            inexact.update(f"{frame.f_code.co_name}: {name}" for name, value in values.items() if is_inexact(value))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return ran, inexact


def test_no_float_is_held_between_counts_and_noisy_counts() -> None:
    noise.discrete_laplace.cache_clear()
    sides = np.arange(64)
    people = Counts.from_cells(Domain.unit(6), sides, sides, sides * UNITS)
    shares = split_over_levels(2, 6)
    ran, inexact = watched(
        lambda: (
            [measure_levels(people, Fraction(1, 3), shares, width) for width in (20, 5000)]
            + [
                DiscreteLaplace(Fraction(1, 1000), table_bits=2, word_bits=4, head=1).sample(size)
                for size in (99, SMALL)
            ]
        ),
        INTEGER_MODULES,
    )
    stages = {"sample", "_draw_many", "_draw_few", "exp_interval", "table", "floors", "resolve", "untie", "_geometric"}
    assert {*stages, "random_words", "saturating_add", "at", "largest", "measure_levels"} <= ran
    assert inexact == set()


def test_a_float_that_is_held_would_be_seen() -> None:
    def halve() -> object:
        return np.arange(3) / 2

    assert watched(halve, [sys.modules[__name__]]) == ({"halve"}, {"halve: return"})


# Streams.

DRAWS = pytest.mark.parametrize("size", [64, SMALL], ids=["words", "tables"])


def repeated(samples: list[Ints]) -> int:
    """How many samples at the largest scale are not unique: of 20,480, any two are equal once in 2^57 pairs."""
    together = np.concatenate(samples)
    return len(together) - len(np.unique(together))


def forked(draw: Callable[[], Ints], children: int) -> Iterator[Ints]:
    """What as many forks of this process draw."""
    pipes = []
    for _ in range(children):
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with os.fdopen(sending, "wb") as pipe:
                    pipe.write(draw().tobytes())
            finally:
                os._exit(0)
        os.close(sending)
        pipes.append((child, receiving))
    for child, receiving in pipes:
        with os.fdopen(receiving, "rb") as pipe:
            yield np.frombuffer(pipe.read(), dtype=np.int64)
        os.waitpid(child, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@DRAWS
def test_forks_share_no_stream(size: int) -> None:
    sampler = noise.discrete_laplace(WIDEST)
    warm = sampler.sample(size)
    drawn = [*forked(lambda: noise.discrete_laplace(WIDEST).sample(size), 3), sampler.sample(size), warm]
    assert [len(each) for each in drawn] == [size] * 5
    assert repeated(drawn) == 0
    seeded = SeededSource(1)
    assert repeated(list(forked(lambda: sampler.sample(size, seeded), 2))) == size  # what the test is there to see


@DRAWS
def test_threads_share_no_stream(size: int) -> None:
    together, fresh = threading.Barrier(4), DiscreteLaplace(WIDEST)

    def draw(_: int) -> Ints:
        together.wait()
        return fresh.sample(size)

    with ThreadPoolExecutor(4) as pool:
        assert repeated(list(pool.map(draw, range(4)))) == 0
