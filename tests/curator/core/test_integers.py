"""Integers only: no float is written or held anywhere between counts and noisy counts, nor in the compiled loops."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from types import FrameType, ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from dpheatmap._util import certified, evenness
from dpheatmap.curator import half_deviations
from dpheatmap.curator.core import budget, counts, looks, measure, noise, noise_kernels, publishing, walk
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import measure_counts
from dpheatmap.curator.core.noise import SMALL, DiscreteLaplace
from dpheatmap.curator.gaussian import discrete_gaussian, gaussian_kernels, gaussian_measure
from dpheatmap.curator.gaussian.discrete_gaussian import DiscreteGaussian
from dpheatmap.curator.gaussian.gaussian_measure import measure_with_gaussian
from dpheatmap.design import adaptive, dense, paper, start
from dpheatmap.design import ladder as ladder_design
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss
from dpheatmap.design.shares import UNITS, split_over_levels
from dpheatmap.place import quadtree
from dpheatmap.place.domain import Domain
from helpers.designs import paper_design

INTEGER_MODULES = [
    noise,
    noise_kernels,
    measure,
    counts,
    walk,
    budget,
    publishing,
    looks,
    quadtree,
    adaptive,
    dense,
    paper,
    start,
    evenness,
    ladder_design,
    certified,
    discrete_gaussian,
    gaussian_kernels,
    gaussian_measure,
]
FLOATS = re.compile(r"\b(double|float|half|f(?:add|sub|mul|div|rem|cmp|neg|ma)|[su]itofp|fpto[su]i|fpext|fptrunc)\b")


def llvm(function: Callable[..., Any], signature: tuple[Any, ...]) -> str:
    """What numba makes of a function, compiled afresh: nothing can be inspected of what comes from its cache."""
    compiled: Any = numba.njit(function)
    compiled.compile(signature)
    return str(compiled.inspect_llvm(signature))


def test_the_kernels_compile_to_integer_code() -> None:
    for size in (1, SMALL):
        DiscreteLaplace(Fraction(1, 1000)).sample(size)
    DiscreteGaussian(Fraction(10**6)).exact(1000)
    kernels: list[Any] = [
        noise_kernels.look_up,
        noise_kernels.search,
        noise_kernels.finish,
        gaussian_kernels.von_neumann,
    ]
    for kernel in kernels:
        signatures = kernel.signatures
        assert len(signatures) == 1  # one for all that a sampler ever passes
        assert not FLOATS.search(llvm(kernel.py_func, signatures[0]))


def test_a_float_in_a_kernel_would_be_seen() -> None:
    assert FLOATS.search(llvm(lambda a: a[0] / 2 > 3, (numba.int64[::1],)))


def float_syntax(source: str) -> set[str]:
    """The places in a source text where a float could come from: literals, ``/``, names of what makes floats."""
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
    fractions = {  # epsilon is a Fraction, and so is whatever it is multiplied with or divided by
        "loss.part(share) / UNITS",
        "epsilon * int(noisy[0]) / UNITS",
        "loss.epsilon * int(noisy[0]) / UNITS",
        "signal / self.start",
        "loss.strength(SHARES) * int(noisy[0]) / UNITS",
        "UNITS / loss.strength(asked.share)",
        "each * loss.strength(asked.left) / UNITS",
        "variance / 64",
        "variance / self.block ** 2",
        "Fraction(self.block ** 2) / (2 * self.variance)",
        "Fraction(digit * (2 * head * self.block + digit)) / (2 * self.variance)",
        "Fraction(self.heads * self.block ** 2) / self.variance",
        "(magnitude ** 2 - envelope) / (2 * self.variance)",
        "UNITS ** 2 / (2 * loss.part(share))",
        "UNITS * SHARES / (epsilon * share)",
        "own * (members - 1) / members",
    }
    assert float_syntax(inspect.getsource(module)) <= fractions


def test_no_float_is_written_where_half_deviations_are_computed() -> None:
    assert float_syntax(inspect.getsource(half_deviations)) == set()


@pytest.mark.parametrize(
    "text", ["x = 1.5", "x /= 2", "np.exp(x)", "import math", "x.astype(float)", "np.float64", "a / b"]
)
def test_a_written_float_would_be_seen(text: str) -> None:
    assert float_syntax(text)


def is_inexact(value: object) -> bool:
    """Whether a value is a float or holds floats."""
    if isinstance(value, np.ndarray) and value.dtype == object:  # Python's integers, where 64 bits are too few
        return any(type(number) is not int for number in value.ravel())
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind not in "iub"
    if isinstance(value, tuple | list):
        return any(map(is_inexact, value))
    return isinstance(value, float | complex)


def watched(work: Callable[[], object], modules: list[ModuleType]) -> tuple[set[str], set[str]]:
    """The functions of the modules that ran during the work, and where one of them held or returned a float."""
    names = {module.__name__ for module in modules}
    ran: set[str] = set()
    inexact: set[str] = set()

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
            [measure_counts(people, PureLoss(Fraction(1, 3)), paper_design(shares, width)) for width in (20, 5000)]
            + [
                measure_counts(people, PureLoss(epsilon), design)
                for design in (AdaptiveDesign(2, 6), LadderDesign(2, 6))
                for epsilon in (Fraction(1, 3), Fraction(20))
            ]
            + [measure_counts(people, PureLoss(Fraction(1)), DenseDesign(2, 6))]
            + [measure_with_gaussian(people, ConcentratedLoss(Fraction(rho)), AdaptiveDesign(2, 6)) for rho in (1, 20)]
            + [DiscreteGaussian(variance, word_bits=16).exact(10**4) for variance in (Fraction(1, 3), Fraction(10**6))]
            + [
                DiscreteLaplace(Fraction(1, 1000), table_bits=2, word_bits=4, head=1).sample(size)
                for size in (99, SMALL)
            ]
        ),
        INTEGER_MODULES,
    )
    stages = {"sample", "_draw_many", "_draw_few", "exp_interval", "table", "floors", "resolve", "untie", "_geometric"}
    assert {
        *stages,
        "_propose",
        "measure_with_gaussian",
        "random_words",
        "clip",
        "summable",
        "exact",
        "largest",
        "measure_counts",
        "walk",
        "after",
        "start_of",
        "_levels_if_even",
        "grid_level",
    } <= ran
    assert inexact == set()


def test_a_float_that_is_held_would_be_seen() -> None:
    def halve() -> object:
        return np.arange(3) / 2

    assert watched(halve, [sys.modules[__name__]]) == ({"halve"}, {"halve: return"})
