"""Several accounts of the same spending: no limit in one is overspent through another."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.ledger.chain import Row, next_row, replay
from dpheatmap.curator.ledger.population_account import Account, Cost
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.design.composition import composes, each_of_series, rho_within
from dpheatmap.design.privacy_loss import ApproximateLoss, ConcentratedLoss, PureLoss
from dpheatmap.errors import LedgerError, ParameterError, PrivacyRefusal
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.trust import Trust
from dpheatmap.slicing.part import Part
from helpers.people import nobody_in

MILLIONTH = Fraction(1, 10**6)
TINY: list[dict[str, Any]] = [{"epsilon": "1e-9"}, {"rho": "1e-9"}]
PEOPLE = [dict(zip("xy", values, strict=True)) for values in itertools.product("ab", repeat=2)]


def limited(place: str, **limit: Any) -> dph.Ledger:
    ledger = dph.Ledger(place)
    ledger.limit("riders", **limit)
    return ledger


# An oracle: every person's own charges, added up anew for each question


@dataclass
class Oracle:
    """A ledger as it should decide, from a list of all that was admitted."""

    limit: dict[str, Fraction]
    admitted: list[tuple[str, Fraction, Part | None]] = field(default_factory=list)
    reserved: list[list[Any]] = field(default_factory=list)

    def worst(self, more: list[tuple[str, Fraction, Part | None]], unit: str) -> Fraction | None:
        """The sum of the person on whom most is spent, of those whom ``more`` is about; None if it is unbounded."""
        everything = [*self.admitted, *more]
        about = [who for who in PEOPLE if all(p is None or who[p.column] == p.value for _, _, p in more)]
        if unit == "epsilon" and any(kind == "rho" for kind, _, _ in everything):
            return None

        def price(kind: str, amount: Fraction) -> Fraction:
            return amount if kind == unit else amount * amount / 2

        return max(
            sum((price(k, a) for k, a, p in everything if p is None or who[p.column] == p.value), Fraction(0))
            for who in about
        )

    def admits(self, more: list[tuple[str, Fraction, Part | None]]) -> bool:
        epsilon, rho = self.worst(more, "epsilon"), self.worst(more, "rho")
        assert rho is not None
        if "rho" in self.limit:
            return rho <= self.limit["rho"]
        if epsilon is not None and epsilon <= self.limit["epsilon"]:
            return True
        delta = self.limit.get("delta")
        return delta is not None and rho <= rho_within(self.limit["epsilon"], delta)

    def charge(self, kind: str, amount: Fraction, part: Part | None) -> bool:
        admitted = self.admits([(kind, amount, part)])
        if admitted:
            self.admitted.append((kind, amount, part))
        return admitted

    def reserve(self, kind: str, each: Fraction, releases: int) -> bool:
        whole: list[tuple[str, Fraction, Part | None]] = [(kind, each, None)] * releases
        optimal = kind == "epsilon" and "delta" in self.limit and not self.admitted
        admitted = self.admits(whole) or (
            optimal and composes(releases, each, self.limit["epsilon"], self.limit["delta"])
        )
        if admitted:
            self.admitted += whole
            self.reserved.append([kind, each, releases])
        return admitted


amounts = st.one_of(
    st.fractions(Fraction(1, 1000), 2, max_denominator=1000), st.sampled_from([Fraction(1, 40), Fraction(1, 3)])
)
small = amounts.map(lambda amount: amount / 50)
parts = st.none() | st.builds(
    lambda column, value: Part(column, value, ("a", "b")), st.sampled_from("xy"), st.sampled_from("ab")
)
limits = st.one_of(
    st.builds(lambda e: {"epsilon": e}, amounts),
    st.builds(lambda e, d: {"epsilon": e, "delta": Fraction(1, 10**d)}, amounts, st.integers(2, 9)),
    st.builds(lambda r: {"rho": r}, amounts),
)
kinds = st.sampled_from(["epsilon", "rho"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("charge"), kinds, amounts | small, parts),
        st.tuples(st.just("reserve"), kinds, amounts | small, st.integers(1, 60)),
        st.tuples(st.just("use"), st.integers(0, 3), st.booleans(), st.none()),
        st.tuples(st.just("change"), limits, st.none(), st.none()),
    ),
    max_size=14,
)


def done(call: Any, *given: Any, **options: Any) -> Any:
    """What a call returned, or None if it was refused for the sake of privacy."""
    try:
        return call(*given, **options) or True
    except PrivacyRefusal:
        return None


@settings(max_examples=60, deadline=None)
@given(limits, steps)
def test_what_is_admitted_is_what_an_oracle_admits(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, Fraction], made: list[tuple[Any, ...]]
) -> None:
    ledger = dph.Ledger(tmp_path_factory.mktemp("l") / "city.ledger")
    ledger.limit("riders", **first)
    oracle, numbers = Oracle(first), list[int]()
    for step, a, b, c in made:
        if step == "charge":
            assert (done(ledger.charge, "riders", **{a: b}, of=c) is not None) == oracle.charge(a, b, c)
        elif step == "reserve":
            entry = done(ledger.reserve, "riders", **{a: b}, releases=c)
            assert (entry is not None) == oracle.reserve(a, b, c)
            numbers += [entry.number] if entry else []
        elif step == "use" and a < len(numbers):
            kind, each, unused = oracle.reserved[a]
            price = each if b else each + 1
            used = done(ledger.charge, "riders", **{kind: price}, series=numbers[a])
            allowed = kind == "epsilon" or set(oracle.limit) != {"epsilon"}
            assert (used is not None) == (b and unused > 0 and allowed)
            oracle.reserved[a][2] -= used is not None
        elif step == "change" and a != oracle.limit:
            ledger.change_limit("riders", **a, was=ledger.accounts()["riders"].limit)
            oracle.limit = a
    account = ledger.accounts()["riders"]
    assert account.epsilon == oracle.worst([], "epsilon")
    assert account.rho == oracle.worst([], "rho")


@settings(max_examples=60, deadline=None)
@given(limits, st.lists(st.tuples(kinds, small, parts), max_size=8), parts)
def test_what_fits_fits_and_hardly_more(
    limit: dict[str, Fraction], made: list[tuple[str, Fraction, Part | None]], part: Part | None
) -> None:
    account, oracle = Account(Limit(**limit)), Oracle(limit)
    for kind, amount, of in made:
        if oracle.charge(kind, amount, of):
            account.charge(Cost.pure(amount) if kind == "epsilon" else Cost.gaussian(amount), of)
    for kind, fits in (("epsilon", account.fits(part)), ("rho", account.fits_rho(part))):
        assert fits is not None
        assert fits == 0 or oracle.admits([(kind, fits, part)])
        assert not oracle.admits([(kind, fits * Fraction(100_001, 100_000) + Fraction(1, 10**9), part)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(kinds, amounts | small, parts), min_size=1, max_size=8), st.integers(2, 9))
def test_spending_at_a_delta_is_the_smallest_limit_that_lets_it_pass(
    made: list[tuple[str, Fraction, Part | None]], digits: int
) -> None:
    delta, account = Fraction(1, 10**digits), Account()
    for kind, amount, of in made:
        account.charge(Cost.pure(amount) if kind == "epsilon" else Cost.gaussian(amount), of)
    least = account.epsilon_at(delta)
    assert Oracle({"epsilon": least, "delta": delta}, made).admits([])
    less = Oracle({"epsilon": least * Fraction(9990, 10000), "delta": delta}, made)
    assert least <= account.rho * Fraction(101, 100) or not less.admits([])  # below rho none is looked for


# What each kind of limit lets in


def test_a_limit_of_epsilon_alone_refuses_gaussian_noise(place: str) -> None:
    ledger = limited(place, epsilon=3)
    for use in (ledger.charge, ledger.check):
        with pytest.raises(PrivacyRefusal, match=r"limit of epsilon alone in .* no epsilon bounds a release with Gaus"):
            use("riders", rho="1/1000000")
    with pytest.raises(PrivacyRefusal, match="limit of epsilon alone"):
        ledger.reserve("riders", rho="1/1000000", releases=1)
    ledger.change_limit("riders", 3, delta="1e-6", was=3)
    ledger.charge("riders", rho="1/1000")
    ledger.change_limit("riders", 3, was="3 at delta 0.000001")  # what was spent stays spent, and no epsilon bounds it
    assert ledger.accounts()["riders"].left == 0
    assert "rho 0.001 spent, which no limit of epsilon alone allows" in ledger.accounts()["riders"].in_words()
    with pytest.raises(PrivacyRefusal, match="Nothing fits any more"):
        ledger.charge("riders", "1/1000000")


def test_many_releases_cost_less_than_their_sum_where_there_is_a_delta(place: str) -> None:
    """Sixty releases of 1/40 fit into 1 at a millionth, whose sum is 1.5; one that is half of it does not."""
    ledger = limited(place, epsilon=1, delta="1e-6")
    for _ in range(60):
        ledger.charge("riders", "1/40")
    account = ledger.accounts()["riders"]
    assert (account.epsilon, account.rho) == (Fraction(3, 2), Fraction(60, 3200))
    assert Fraction(8, 10) < account.spent < 1
    assert account.in_words().startswith(f"{float(account.spent):.6g} of 1 at delta 0.000001 spent, epsilon 0.1")
    with pytest.raises(PrivacyRefusal, match=r"the limit 1 at delta 0.000001 in .* asks for 0.5\. An epsilon of up"):
        ledger.charge("riders", "1/2")


def test_a_sum_within_the_limit_passes_whatever_its_rho(place: str) -> None:
    ledger = limited(place, epsilon=1, delta="1e-6")
    ledger.charge("riders", 1)
    assert ledger.accounts()["riders"].rho > rho_within(Fraction(1), MILLIONTH)
    assert ledger.accounts()["riders"].spent == 1
    for price in TINY:
        with pytest.raises(PrivacyRefusal, match="Nothing fits any more"):
            ledger.charge("riders", **price)


def test_a_part_that_spent_little_has_its_own_room(place: str) -> None:
    """For each person one test holds: pure charges within E for those of the north, rho for those of the south."""
    ledger = limited(place, epsilon=1, delta="1e-6")
    north, south = (Part("home", value, ("north", "south")) for value in ("north", "south"))
    ledger.charge("riders", "0.9", of=north)
    assert ledger.accounts()["riders"].rho > rho_within(Fraction(1), MILLIONTH)
    ledger.charge("riders", rho=rho_within(Fraction(1), MILLIONTH), of=south)
    for price, of in itertools.product(TINY, (north, south, None)):
        with pytest.raises(PrivacyRefusal):
            ledger.charge("riders", **price, of=of)


def test_after_gaussian_noise_only_rho_counts(place: str) -> None:
    ledger = limited(place, epsilon=1, delta="1e-6")
    ledger.charge("riders", rho="0.001")
    with pytest.raises(PrivacyRefusal):
        ledger.charge("riders", "0.9")  # which alone would be within the sum
    ledger.charge("riders", "0.2")
    account = ledger.accounts()["riders"]
    assert (account.epsilon, account.rho) == (None, Fraction(21, 1000))


def test_a_limit_of_rho_holds_to_the_last_digit(place: str) -> None:
    ledger = limited(place, rho="0.02")
    ledger.charge("riders", rho="0.01")
    ledger.charge("riders", "0.1")
    assert ledger.accounts()["riders"].in_words() == "rho 0.015 of 0.02 spent, 0.005 left"
    with pytest.raises(PrivacyRefusal, match=r"An epsilon of up to 0.1, or a rho of up to 0.005, would fit"):
        ledger.charge("riders", rho="0.0050000001")
    ledger.charge("riders", "0.1")
    assert ledger.accounts()["riders"].left == 0


def test_a_limit_and_a_price_are_of_one_kind(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "l")
    limits: list[Any] = [{}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": "1e-6"}, {"delta": "1e-6"}]
    for given_ in limits:
        with pytest.raises(ParameterError, match="A limit is of epsilon, of epsilon and delta, or of rho"):
            ledger.limit("riders", **given_)
    for price in limits[:2]:
        with pytest.raises(ParameterError, match="A price is an epsilon or a rho"):
            ledger.charge("riders", **price)
    with pytest.raises(ParameterError, match="A series is about everybody"):
        ledger.charge("riders", 1, series=1, of=Part("d", "n", ("n", "s")))
    assert not list(tmp_path.iterdir())
    ledger.limit("riders", 1, delta=0)
    assert ledger.accounts()["riders"].limit == Limit(Fraction(1))


# Changes between kinds


@pytest.mark.parametrize("before", ["2", "1 at delta 0.000001", "rho 0.02"])
@pytest.mark.parametrize("after", ["3", "2 at delta 0.000001", "1 at delta 0.001", "rho 0.03"])
def test_any_limit_changes_to_any_other(place: str, before: str, after: str) -> None:
    first, second = Limit.read(before), Limit.read(after)
    options = [{k: v for k, v in vars(limit).items() if v} for limit in (first, second)]
    ledger = limited(place, **options[0])
    with pytest.raises(PrivacyRefusal, match=r"a limit is set once\. If it is to be changed, run"):
        ledger.limit("riders", **options[1])
    with pytest.raises(PrivacyRefusal, match=f"is {before}, and it was to be changed from {after}"):
        ledger.change_limit("riders", **options[0], was=after)
    ledger.change_limit("riders", **options[1], was=before)
    assert str(ledger.accounts()["riders"].limit) == after
    assert ledger.verify() == 2


# Series


def test_a_series_by_optimal_composition_is_all_that_there_is(place: str) -> None:
    ledger = limited(place, epsilon=1, delta="1e-6")
    each = each_of_series(52, Fraction(1), MILLIONTH)
    assert 52 * each**2 / 2 > rho_within(Fraction(1), MILLIONTH)
    series = ledger.reserve("riders", each, releases=52)
    assert ledger.accounts()["riders"].spent <= 1
    for price in TINY:
        with pytest.raises(PrivacyRefusal, match="Nothing fits any more"):
            ledger.charge("riders", **price)
        with pytest.raises(PrivacyRefusal, match="Nothing fits any more"):
            ledger.reserve("riders", **price, releases=1)
    with pytest.raises(PrivacyRefusal, match=r"was reserved at 0.0337416 a release, and this one asks for 0.0337417"):
        ledger.charge("riders", each + Fraction(1, 10**7), series=series.number)
    with pytest.raises(PrivacyRefusal, match="reserves no series for 'riders'"):
        ledger.charge("riders", each, series=1)
    for _ in range(52):
        ledger.check("riders", each, series=series.number)
        ledger.charge("riders", each, series=series.number)
    with pytest.raises(PrivacyRefusal, match=r"All 52 releases of the series 2 of 'riders' in .* were made"):
        ledger.charge("riders", each, series=series.number)
    account = ledger.accounts()["riders"]
    assert (account.charges, account.epsilon) == (52, 52 * each)
    assert "Series 2: 52 of 52 releases made, at 0.0337416 each." in account.accounts_in_words()


def test_optimal_composition_is_for_what_comes_first(place: str) -> None:
    """After any charge a series fits by its sum or its rho, or not at all."""
    ledger = limited(place, epsilon=1, delta="1e-6")
    each = each_of_series(52, Fraction(1), MILLIONTH)
    ledger.charge("riders", "1e-9")
    with pytest.raises(PrivacyRefusal, match=r"52 releases at 0.0337416 each were asked for"):
        ledger.reserve("riders", each, releases=52)
    ledger.reserve("riders", "1/40", releases=52)  # within rho
    ledger.limit("walkers", rho="0.02")
    with pytest.raises(PrivacyRefusal):
        ledger.reserve("walkers", "0.03", releases=52)
    number = ledger.reserve("walkers", rho=Fraction(2, 5200), releases=52).number
    with pytest.raises(PrivacyRefusal, match="reserves no series for 'riders'"):
        ledger.charge("riders", rho=Fraction(2, 5200), series=number)
    ledger.charge("walkers", rho=Fraction(2, 5200), series=number)
    assert ledger.accounts()["walkers"].left == 0


def test_a_series_needs_a_limit_and_makes_no_ledger_without(tmp_path: Path) -> None:
    for needed in (True, False):
        with pytest.raises(PrivacyRefusal, match="'riders' has no limit in"):
            dph.Ledger(tmp_path / "l", limits_needed=needed).reserve("riders", 1, releases=3)
    assert not list(tmp_path.iterdir())


def test_a_reserved_series_survives_a_lower_limit(place: str) -> None:
    ledger = limited(place, epsilon=3)
    series = ledger.reserve("riders", 1, releases=3)
    ledger.change_limit("riders", 1, was=3)
    ledger.charge("riders", 1, series=series.number)
    assert ledger.accounts()["riders"].spent == 3
    assert [row.kind for row in ledger.entries()] == ["limit", "reserve", "change", "use"]


def test_a_limit_of_epsilon_alone_stops_a_reserved_series_of_gaussian_noise(place: str) -> None:
    ledger = limited(place, epsilon=1, delta="1e-6")
    series = ledger.reserve("riders", rho="1/5000", releases=3)
    ledger.charge("riders", rho="1/5000", series=series.number)
    ledger.change_limit("riders", 1, was="1 at delta 0.000001")
    with pytest.raises(PrivacyRefusal, match="a limit of epsilon alone"):
        ledger.charge("riders", rho="1/5000", series=series.number)
    ledger.change_limit("riders", 1, delta="1e-6", was=1)
    ledger.charge("riders", rho="1/5000", series=series.number)


# The chain


def chain(*entries: tuple[str, str, str]) -> list[Row]:
    rows: list[Row] = []
    for kind, epsilon, part in entries:
        rows.append(next_row(rows, "", kind, "riders", epsilon, part))
    return rows


DELTA, RHO = ("limit-delta", "1", '{"delta": "1/1000000"}'), ("limit-rho", "1/50", "")
PURE, SERIES = ("limit", "1", ""), ("reserve", "1/40", '{"releases": 2}')
USED = ("use", "1/40", '{"series": 2}')
WHOLE: list[list[tuple[str, str, str]]] = [
    [DELTA],
    [RHO],
    [PURE, ("change-delta", "2", '{"delta": "1/1000", "from": {"epsilon": "1"}}'),
     ("change-rho", "1/50", '{"from": {"epsilon": "2", "delta": "1/1000"}}'),
     ("change-pure", "3", '{"from": {"rho": "1/50"}}'), ("change", "4", '{"from": "3"}')],
    [RHO, ("charge-rho", "1/100", ""), ("charge", "1/100", '["d", "n", ["n", "s"]]')],
    [("charge-rho", "1/100", '["d", "n", ["n", "s"]]')],
    [DELTA, SERIES, USED, USED],
    [RHO, ("reserve-rho", "1/40", '{"releases": 1000}'), USED],
]  # fmt: skip
BROKEN: list[list[tuple[str, str, str]]] = [
    [("limit-delta", "1", "")], [("limit-delta", "1", '{"delta": "0"}')], [("limit-delta", "1", '{"delta": "1e-6"}')],
    [("limit-delta", "1", '{"delta": "1/2"}')], [("limit-delta", "1", '{"delta": 1}')],
    [("limit-delta", "1", '{"delta":"1/1000000"}')], [("limit-delta", "1", '{"delta": "1/9", "delta": "1/1000000"}')],
    [("limit-delta", "1.0", '{"delta": "1/1000000"}')], [("limit-delta", "0", '{"delta": "1/1000000"}')],
    [("limit-rho", "0.02", "")], [("limit-rho", "1/50", "{}")], [("limit-rho", "1/50", '["d", "n", ["n", "s"]]')],
    [PURE, RHO], [RHO, PURE], [DELTA, RHO], [RHO, ("change", "2", '{"from": "1"}')],
    [RHO, ("change", "2", '{"from": "1/50"}')],
    [("change-rho", "1/50", '{"from": {"epsilon": "1"}}')], [PURE, ("change-pure", "2", '{"from": {"epsilon": "1"}}')],
    [PURE, ("change-rho", "1/50", '{"from": {"epsilon": "2"}}')], [PURE, ("change-rho", "1/50", '{"from": "1"}')],
    [DELTA, ("change-rho", "1/50", '{"from": {"epsilon": "1"}}')], [RHO, ("change-delta", "1", '{"from": {}}')],
    [PURE, ("charge-rho", "1/100", "")], [RHO, ("charge-rho", "0.01", "")], [RHO, ("charge-rho", "1/100", "{}")],
    [PURE, ("reserve-rho", "1/40", '{"releases": 2}')],
    [RHO, ("reserve-rho", "1/40", '{"releases": 2}'), ("change-pure", "1", '{"from": {"rho": "1/50"}}'), USED],
    *([DELTA, ("reserve", "1/40", part)] for part in ('{"releases": 0}', '{"releases": 1001}', '{"releases": true}',
      '{"releases": 2.0}', '{"releases": "2"}', '{"releases":2}', '{"releases": 2, "of": 1}', "", "[2]")),
    [DELTA, SERIES, USED, USED, USED], [DELTA, SERIES, ("use", "1/41", '{"series": 2}')], [DELTA, USED],
    [DELTA, SERIES, ("use", "1/40", '{"series": 1}')], [DELTA, SERIES, ("use", "1/40", '{"series": "2"}')],
    [DELTA, SERIES, ("use", "0.025", '{"series": 2}')], [DELTA, SERIES, ("use", "1/40", '{"series": 3}')],
    [("use", "1/40", '{"series": true}')], [DELTA, ("use-rho", "1/40", '{"series": 2}')], [("limits", "1", "")],
]  # fmt: skip


@pytest.mark.parametrize("entries", WHOLE, ids=lambda entries: "+".join(entry[0] for entry in entries))
def test_whole_chains_are_read(entries: list[tuple[str, str, str]]) -> None:
    assert "riders" in replay(chain(*entries), "it")


@pytest.mark.parametrize("entries", BROKEN, ids=lambda entries: "+".join(entry[0] for entry in entries))
def test_entries_that_mean_nothing_are_refused(entries: list[tuple[str, str, str]]) -> None:
    with pytest.raises(LedgerError, match=f"entry {len(entries)} can't be understood"):
        replay(chain(*entries), "it")


def test_a_series_is_used_by_its_own_people_only() -> None:
    rows = chain(DELTA, SERIES)
    rows.append(next_row(rows, "", *("use", "walkers", "1/40", '{"series": 2}')))
    with pytest.raises(LedgerError, match="entry 3 can't be understood"):
        replay(rows, "it")


def test_the_ledgers_own_entries_are_those_of_the_grammar(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "l")
    ledger.limit("riders", 1, delta="1e-6")
    ledger.reserve("riders", "1/40", releases=2)
    ledger.charge("riders", "1/40", series=2)
    ledger.charge("riders", rho="1/1000", of=Part("d", "n", ("n", "s")))
    told = [(row.kind, row.epsilon, row.part) for row in ledger.entries()]
    assert told == [DELTA, SERIES, USED, ("charge-rho", "1/1000", '["d", "n", ["n", "s"]]')]
    assert [row.price for row in ledger.entries()] == ["1", "0.025", "0.025", "rho 0.001"]


# Releases


def test_a_release_verifies_against_an_entry_of_its_kind(tmp_path: Path) -> None:
    from dataclasses import replace

    ledger = dph.Ledger(tmp_path / "l")
    ledger.limit("riders", 5, delta="1e-6")
    made = dph.release(nobody_in(dph.Domain.unit(2)), epsilon="1/50")
    charges = [
        ledger.charge("riders", "1/50"),
        ledger.charge("riders", rho="1/50"),
        ledger.charge("riders", "1/50", series=ledger.reserve("riders", "1/50", releases=2).number),
        ledger.charge("riders", rho="1/50", series=ledger.reserve("riders", rho="1/50", releases=2).number),
    ]
    gaussian = ConcentratedLoss(Fraction(1, 50))
    for number, entry in enumerate(charges):
        for loss, is_rho in ((PureLoss(Fraction(1, 50)), False), (gaussian, True)):
            release: Any = replace(made, loss=loss, ledger=entry)
            if is_rho == (number % 2 == 1):
                assert ledger.verify([release]) == 7
            else:
                with pytest.raises(LedgerError, match="is not the one in its label"):
                    ledger.verify([release])
    weaker: Any = replace(made, loss=ConcentratedLoss(Fraction(1, 100)), ledger=charges[1])
    loss = ApproximateLoss(Fraction(1, 50), Fraction(1, 100))
    collected = replace(made, loss=loss, trust=Trust("shuffler", 9), ledger=charges[0])
    for other in (weaker, collected):
        with pytest.raises(LedgerError, match="is not the one in its label"):
            ledger.verify([other])
    reservation = LedgerEntry(4, ledger.entries()[3].hash)
    with pytest.raises(LedgerError, match="is not the one in its label"):
        ledger.verify([replace(made, loss=PureLoss(Fraction(1, 50)), ledger=reservation)])
