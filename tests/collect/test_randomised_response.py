"""Randomised response: the exact law of what the code draws, as fractions, against e^epsilon; and planted bugs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from dpheatmap.collect.randomised_response import (
    LONGEST,
    NOTHING,
    Answers,
    Direct,
    Hadamard,
    Response,
    Unary,
    response,
)
from dpheatmap.curator.core.noise import Source
from dpheatmap.errors import DataError
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import SeededSource

BITS = 6
EPSILONS = [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)]
Law = dict[tuple[int, ...], Fraction]
KINDS: list[type[Response]] = [Direct, Unary, Hadamard]


def e_to_the(epsilon: Fraction) -> Fraction:
    """e^epsilon to 60 digits, rounded down, by another library's arithmetic."""
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        return Fraction(exact) * (1 - Fraction(1, 10**55))


def counting(*digits: int) -> tuple[int, Source]:
    """A source that hands out every combination of words below these numbers, one array of words a call."""
    grids = np.meshgrid(*(np.arange(n, dtype=np.uint64) for n in digits), indexing="ij")
    columns = iter([grid.ravel() for grid in grids])
    size = grids[0].size
    return size, lambda wanted: next(columns).tobytes()


def law_of(how: Response, value: int) -> Law:
    """The law of the answers to a value: what the code makes of every combination of random words, counted."""
    if isinstance(how, Unary):
        grid = np.stack(np.meshgrid(*[np.arange(2**how.bits, dtype=np.uint64)] * how.size), axis=-1)
        size = grid.size // how.size
        rows: NDArray[np.integer] = how.answers(np.full(size, value), lambda wanted: grid.tobytes())
    else:
        size, source = counting(how.symbols, 2**how.bits)
        rows = how.answers(np.full(size, value), source)[:, None]
    return {answer: Fraction(times, size) for answer, times in Counter(map(tuple, rows.tolist())).items()}


def worst_ratio(how: Response) -> Fraction | None:
    """The largest ratio of probabilities of any answer, over all pairs of values; None if one of them can be 0."""
    laws = [law_of(how, value) for value in (NOTHING, *range(how.size))]
    answers = {answer for law in laws for answer in law}
    if any(answer not in law for law in laws for answer in answers):
        return None
    return max(a[answer] / b[answer] for a, b in permutations(laws, 2) for answer in answers)


def examples(epsilon: Fraction) -> Iterator[Response]:
    yield Unary(2, epsilon, BITS)
    yield Unary(3, epsilon, 4)
    for size in (1, 2, 3, 5, 8):
        yield Hadamard(size, epsilon, BITS)
        yield Direct(size, epsilon, BITS)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_no_answer_tells_more_than_epsilon(epsilon: Fraction) -> None:
    for how in examples(epsilon):
        worst = worst_ratio(how)
        assert worst is not None
        assert 1 <= worst <= e_to_the(epsilon)


class RoundedTheOtherWay(Unary):
    """Flips one step too rarely."""

    def __init__(self, size: int, epsilon: Fraction, bits: int) -> None:
        super().__init__(size, epsilon, bits)
        self.flips -= 1


class TooHonest(Hadamard):
    """Tells the truth one step too often."""

    def __init__(self, size: int, epsilon: Fraction, bits: int) -> None:
        super().__init__(size, epsilon, bits)
        self.honest += 1


class TooDirect(Direct):
    """Tells the truth one step too often: the probability is rounded up."""

    def __init__(self, size: int, epsilon: Fraction, bits: int) -> None:
        super().__init__(size, epsilon, bits)
        self.honest += 1


class HonestAboutNothing(Direct):
    """Says for certain that there is nothing to tell."""

    def answers(self, values: Ints, source: Source) -> Answers:
        return np.where(values == NOTHING, self.size, super().answers(values, source))


class OfAnotherLevel(Direct):
    """Tells the truth as often as would be private on the level above, which has a quarter of the cells."""

    def __init__(self, size: int, epsilon: Fraction, bits: int) -> None:
        super().__init__(size, epsilon, bits)
        self.symbols = size // 4 + 1  # the others are never told by chance


class OtherwiseALie(Direct):
    """Draws from the other symbols only, with the probability that was computed for all of them."""

    def answers(self, values: Ints, source: Source) -> Answers:
        answers = super().answers(values, source)
        return np.where((answers == 0) & (values == 1), 1, answers)


class SilentAboutNothing(Unary):
    """Answers nothing with nothing, instead of with noise."""

    def answers(self, values: Ints, source: Source) -> Answers:
        return np.where(values[:, None] == NOTHING, 0, super().answers(values, source))


class TruthfulBit(Unary):
    """The bit of the value told is always set: a one-sided noise that a 0 would refute."""

    def answers(self, values: Ints, source: Source) -> Answers:
        answers = super().answers(values, source)
        told = np.flatnonzero(values != NOTHING)
        answers[told, values[told]] = 1
        return answers


class OneSymbol(Hadamard):
    """Forgets to spread over the symbols of the right sign."""

    def answers(self, values: Ints, source: Source) -> Answers:
        answers = super().answers(values, source)
        return np.where(answers & 1 & (values != NOTHING), answers - 1, answers)


PLANTED: dict[str, Callable[[Fraction], Response]] = {
    "rounded the other way": lambda epsilon: RoundedTheOtherWay(2, epsilon, BITS),
    "too honest": lambda epsilon: TooHonest(3, epsilon, BITS),
    "silent about nothing": lambda epsilon: SilentAboutNothing(2, epsilon, BITS),
    "truthful bit": lambda epsilon: TruthfulBit(2, epsilon, BITS),
    "one symbol": lambda epsilon: OneSymbol(3, epsilon, BITS),
    "too direct": lambda epsilon: TooDirect(3, epsilon, BITS),
    "honest about nothing": lambda epsilon: HonestAboutNothing(3, epsilon, BITS),
    "otherwise a lie": lambda epsilon: OtherwiseALie(3, epsilon, BITS),
    "the response of another level": lambda epsilon: OfAnotherLevel(12, epsilon, BITS),
    "half the noise": lambda epsilon: Unary(2, 2 * epsilon, BITS),
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED.keys())
def test_planted_bugs_are_found(plant: Callable[[Fraction], Response]) -> None:
    for epsilon in EPSILONS:
        worst = worst_ratio(plant(epsilon))
        assert worst is None or worst > e_to_the(epsilon), epsilon


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(1, 100), Fraction(50)], ids=str)
def test_full_precision_is_on_the_private_side_and_wastes_nothing(epsilon: Fraction) -> None:
    exact = e_to_the(epsilon)
    q = Fraction(Unary(100, epsilon).flips, 2**62)
    assert (1 - q) / q <= exact
    bits = Hadamard(5000, epsilon)
    h = Fraction(bits.honest, 2**62)
    assert 1 + 2 * bits.blocks * h / (1 - h) <= exact
    few = Direct(100, epsilon)
    d = Fraction(few.honest, 2**62)
    assert 1 + 101 * d / (1 - d) <= exact
    if epsilon < 10:  # beyond, a step of 2^-62 is a large part of what is left to chance
        assert (1 - q) / q > exact * (1 - Fraction(1, 2**40))
        assert 1 + 2 * bits.blocks * h / (1 - h) > exact * (1 - Fraction(1, 2**40))
        assert 1 + 101 * d / (1 - d) > exact * (1 - Fraction(1, 2**40))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 5, 300])
def test_estimates_are_unbiased_and_know_their_deviation(kind: type[Response], size: int, epsilon: Fraction) -> None:
    """400 tallies of 2000 people drawn from many: within 6.5 standard errors, a false alarm is below 1e-6 for all."""
    rng, how = np.random.default_rng(1), kind(size, epsilon)
    true = np.append(0.18 * 0.8 ** np.arange(size), 0.0)
    true[-1] = 1 - true.sum()
    found = np.zeros((400, 2, size))
    for one in found:
        values = rng.choice(np.append(np.arange(size), NOTHING), 2000, p=true)
        one[:] = how.estimate(how.simulate_tally(values, rng), len(values))
    deviations = np.sqrt((found[:, 1] ** 2).mean(axis=0))
    assert np.all(np.abs(found[:, 0].mean(axis=0) - true[:-1]) < 6.5 * deviations / np.sqrt(400))
    assert np.all(np.abs(found[:, 0].std(axis=0) / deviations - 1) < 6.5 / np.sqrt(800))


@pytest.mark.parametrize("kind", KINDS)
def test_the_simulation_has_the_law_of_real_answers(kind: type[Response]) -> None:
    how, rng = kind(20, Fraction(1)), np.random.default_rng(2)
    values = np.arange(20_000) % 7
    real = how.estimate(how.tally(how.answers(values, SeededSource(3))), len(values))
    drawn = how.estimate(how.simulate_tally(values, rng), len(values))
    assert np.all(np.abs(real[0] - drawn[0]) < 6 * np.hypot(real[1], drawn[1]))
    assert np.allclose(real[1], drawn[1], rtol=0.1)


def test_the_response_is_chosen_by_size() -> None:
    assert isinstance(response(LONGEST, Fraction(1)), Unary)
    assert isinstance(response(LONGEST + 1, Fraction(1)), Hadamard)
    assert response(LONGEST, Fraction(1)).answer_bytes == 512
    assert response(76_800, Fraction(1)).answer_bytes == 3


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(5)], ids=str)
def test_few_values_are_told_directly(epsilon: Fraction) -> None:
    """With None among them, up to 3 e^epsilon + 2 symbols: there the variances of the two responses meet."""
    most = int(3 * e_to_the(epsilon) + 2) - 1
    assert isinstance(response(most, epsilon), Direct)
    assert isinstance(response(most + 1, epsilon), Unary)


@pytest.mark.parametrize("kind", KINDS)
def test_the_variance_is_that_of_a_value_nobody_told(kind: type[Response]) -> None:
    """The estimates of 1000 values by 20,000 people who tell nothing: a false alarm is below 1e-6 at 7 errors."""
    how, rng = kind(1000, Fraction(3)), np.random.default_rng(4)
    found = how.estimate(how.simulate_tally(np.full(20_000, NOTHING), rng), 20_000)[0]
    assert abs(found.var() * 20_000 / float(how.variance) - 1) < 7 * np.sqrt(2 / 1000)


@pytest.mark.parametrize(
    "how",
    [
        Direct(13, Fraction(1)),
        Direct(300, Fraction(1)),
        Unary(13, Fraction(1)),
        Hadamard(13, Fraction(1)),
        Hadamard(5000, Fraction(4)),
    ],
)
def test_answers_survive_the_way_and_others_are_refused(how: Response) -> None:
    answer = how.answers(np.array([3]), SeededSource(1))[0]
    sent = how.pack(answer)
    assert len(sent) == how.answer_bytes
    assert np.array_equal(how.unpack(sent), answer)
    wrong = [sent + b"\0", sent[:-1], b""]
    if isinstance(how, Unary) or how.symbols < 2 ** (8 * how.answer_bytes):
        wrong.append(b"\xff" * how.answer_bytes)
    for other in wrong:
        with pytest.raises(DataError, match="A report is not one of this collection"):
            how.unpack(other)
