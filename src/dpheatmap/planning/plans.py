"""Plans: what a release will do, and its expected error, before any data is read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpheatmap._util.number_words import digits
from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.paper import PaperDesign, all_at_once, depth_worth_asking, one_level_each
from dpheatmap.design.privacy_loss import SummedLoss
from dpheatmap.design.registry import DESIGNS, FORECASTS, choose_design
from dpheatmap.design.settings import PAPER_WIDTH, Settings
from dpheatmap.design.shares import PAPER_DECAY, SHARES, part, read_epsilon
from dpheatmap.design.start import DEFAULT_TOTAL
from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.planning import bounds
from dpheatmap.planning.expected_error import Choice, local_error, sparse_or_dense, variance_of_report
from dpheatmap.releases.label import caution
from dpheatmap.slicing.period import Period

_TRUSTING = {
    "curator": "", "shuffler": ", who trust a shuffler," , "servers": ", who trust one of two servers,",
    "nobody": ", who trust nobody,",
}  # fmt: skip
_VISIBLE = 0.05  # the share of all people that makes "a busy place" below
_MORE = Fraction(1, 10)  # a part of epsilon for the number of people that is told for comparison
_NINE_IN_TEN = 1.645  # standard deviations
_CERTAIN = 3.0  # standard deviations of the noise that a count must rise above


@dataclass(frozen=True)
class LevelPlan:
    """One level of a plan.

    Attributes
    ----------
    level : int
        The level.
    epsilon : Fraction
        Its part of epsilon.
    cell : float
        The side of its cells, in ground metres, pixels or fractions of the side, as the domain is.
    noise : float
        The standard deviation of the noise on a count, in people.
    smallest_share : float
        The share of all people that a cell must hold to stand out from the noise: three standard deviations.
    """

    level: int
    epsilon: Fraction
    cell: float
    noise: float
    smallest_share: float


@dataclass(frozen=True)
class Theory:
    """Bounds on the expected error, from :mod:`dpheatmap.planning.bounds`, in sides of the domain.

    A bound above 2 says nothing. The ladder and the adaptive design have no guarantee.

    Attributes
    ----------
    sparse : float
        What the paper's design guarantees for people in at most ``width`` finest cells.
    dense : float
        What the dense design guarantees for any people.
    lower : float
        What no design can guarantee to stay below for all people in as many places.
    """

    sparse: float
    dense: float
    lower: float

    def in_words(self, domain: Domain) -> str:
        """Write the bounds as a sentence, in lengths of a domain.

        Parameters
        ----------
        domain : Domain
            The place of the plan.

        Returns
        -------
        str
            The sentence.
        """

        def length(bound: float) -> str:
            return domain.length_in_words(domain.longer_side * bound) if bound <= 2 else "nothing yet"

        below = f"; nobody can guarantee less than {length(self.lower)}" if self.lower > 0 else ""
        return (
            f"for people in few places the paper's design guarantees {length(self.sparse)}, for any people the dense "
            f"one {length(self.dense)}{below}."
        )


class OtherShare(NamedTuple):
    """What another part of epsilon for the number of all people would buy, and what the map would lose or gain.

    Attributes
    ----------
    share : Fraction
        The other part of epsilon.
    people_error : float
        What the number of all people would be off by, at most, nine times in ten.
    expected_emd : float
        The expected earth mover's distance to the truth, in sides of the domain.
    """

    share: Fraction
    people_error: float
    expected_emd: float


@dataclass(frozen=True)
class Plan:
    """The plan of a release with these settings, made by :func:`plan`. Nothing in it comes from data.

    Attributes
    ----------
    domain : Domain
        The public place.
    epsilon : Fraction
        The epsilon of the release.
    users : int
        The guess of the number of people.
    design : str
        The design that is planned.
    levels : tuple of LevelPlan
        The levels that are measured. The ladder's are those of a path that is followed all the way down; less
        busy paths end earlier, and spend there all that they have left.
    expected_emd : float
        The expected earth mover's distance to the truth, in sides of the domain.
    smallest_feature : float or None
        The side of the smallest cells in which a place with 5 % of all people is seen, in ground metres, pixels or
        fractions of the side; None if it is not seen.
    advice : str
        What to expect of the map, in a sentence or two.
    better : str
        The design with the smaller expected error: a sparse one, or the dense one.
    why : str
        Why that design is better, in words.
    bounds : Theory
        Guarantees and a lower bound.
    trusted : {"curator", "shuffler", "servers", "nobody"}
        Who is trusted with people's data.
    people_share : Fraction or None
        The part of epsilon that goes into the number of all people; None where nothing is set aside for it.
    people_error : float or None
        What the estimated number of all people will be off by, at most, nine times in ten; None without a curator.
    other_share : OtherShare or None
        What a tenth of epsilon for the number of all people would do instead; if it is a tenth or more, the usual part.
    """

    domain: Domain
    epsilon: Fraction
    users: int
    design: str
    levels: tuple[LevelPlan, ...]
    expected_emd: float
    smallest_feature: float | None
    advice: str
    better: str
    why: str
    bounds: Theory
    trusted: str = "curator"
    people_share: Fraction | None = None
    people_error: float | None = None
    other_share: OtherShare | None = None

    @property
    def caution(self) -> str | None:
        """The warning that goes with an epsilon too large to protect anybody, or None for a smaller one."""
        return caution(self.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Describe the plan by plain values, for JSON.

        Returns
        -------
        dict
            The plan, with one dict for each level, and the unit of its lengths.
        """
        return {
            "epsilon": str(self.epsilon),
            "users": self.users,
            "design": self.design,
            "trusted": self.trusted,
            "unit": self.domain.unit_name,
            "expected_emd": self.expected_emd,
            "smallest_feature": self.smallest_feature,
            "advice": self.advice,
            "caution": self.caution,
            "better": self.better,
            "why": self.why,
            "bounds": vars(self.bounds),
            "people_share": None if self.people_share is None else str(self.people_share),
            "people_error": self.people_error,
            "other_share": self.other_share and {**self.other_share._asdict(), "share": str(self.other_share.share)},
            "levels": [{**vars(level), "epsilon": str(level.epsilon)} for level in self.levels],
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the plan as a table and a few sentences; notebooks show it, too."""
        lines = [f"{'level':>5}  {'cell':>20}  {'epsilon':>10}  {'noise (people)':>14}  {'stands out from':>15}"]
        for level in self.levels:
            lines.append(
                f"{level.level:>5}  {self.domain.length_in_words(level.cell):>20}  "
                f"{digits(float(level.epsilon), 3):>10}  {digits(level.noise, 3):>14}  "
                f"{digits(100 * level.smallest_share, 2) + '%':>15}"
            )
        error = self.domain.length_in_words(self.expected_emd * self.domain.longer_side)
        lines += ["", f"Expected error: people are misplaced by {error} on average."]
        if self.smallest_feature is not None:
            seen = self.domain.length_in_words(self.smallest_feature)
            lines.append(f"Smallest visible feature: {seen}, if it holds {_VISIBLE:.0%} of the people.")
        if self.people_error is not None:
            lines.append(self._number_of_people())
        lines += [self.advice, *filter(None, [self.caution])]
        if self.trusted == "curator":
            lines += ["", f"Better: {self.better}. {self.why}", f"In theory: {self.bounds.in_words(self.domain)}"]
        return "\n".join(lines)

    def _number_of_people(self) -> str:
        """What the part of epsilon for the number of all people buys, and what the map loses."""
        assert self.people_error is not None
        told = f"The number of all people: known to within {digits(self.people_error, 2)}, nine times in ten."
        if self.other_share is None:
            return told
        other = self.other_share
        change = other.expected_emd / self.expected_emd - 1.0
        much = f"{abs(change):.0%}" if abs(change) >= 0.005 else "under 1%"
        return (
            f"{told} With a people share of {float(other.share):g}, to within {digits(other.people_error, 2)}; people "
            f"on the map are then misplaced by {much} {'more' if change >= 0 else 'less'}."
        )


def plan(
    domain: Domain,
    *,
    epsilon: Any,
    users: int,
    width: int = PAPER_WIDTH,
    decay: float | Fraction = PAPER_DECAY,
    design: str = "ladder",
    places: int | None = None,
    trusted: str = "curator",
    people_share: float | Fraction | None = None,
    every: str | None = None,
    start: Any = None,
    end: Any = None,
    slices: int | None = None,
    groups: Iterable[str] | None = None,
) -> Plan | Any:
    """Plan a release before any data is read: levels, noise, expected error and advice.

    Parameters
    ----------
    domain : Domain
        The public place.
    epsilon : number, str or Fraction
        The epsilon of the release.
    users : int
        A public guess of the number of people, never a count taken from the data.
    width : int, default 20
        For experts: the number of cells that the paper's design keeps at each level.
    decay : float, default 1 / sqrt(2)
        For experts: the factor by which the levels' parts of epsilon fall in the paper's design.
    design : {"ladder", "adaptive", "paper", "dense"}, default "ladder"
        The design to plan, as for :func:`release`.
    places : int, optional
        About how many finest cells people are in, if that is known without looking at the data.
    trusted : {"curator", "shuffler", "servers", "nobody"}, default "curator"
        Who is trusted with people's data; "servers" are two, of which one is honest. Whatever the design named, servers
        have the adaptive one; with a shuffler or nobody, all of the paper's levels are measured at once.
    people_share : float, optional
        The part of epsilon that goes into the number of all people, as for :func:`release`.
    every : str, optional
        For slices of time: what a slice is, as for :func:`release`.
    start, end : str, date or datetime, optional
        The public range of slices of time, as for :func:`release`.
    slices : int, optional
        The number of slices of time, instead of ``every``.
    groups : iterable of str, optional
        The public list of groups, as for :func:`release`.

    Returns
    -------
    Plan or SlicePlan
        What the release will do, and how good it will be. It prints as a table. A release of several slices has a
        :class:`SlicePlan`, which also tells how slices will be measured, and the expected error of each.

    Examples
    --------
    >>> p = plan(Domain.unit(8), epsilon=1, users=5000)
    >>> p.levels[0].level, p.expected_emd < plan(Domain.unit(8), epsilon=1, users=200).expected_emd
    (3, True)
    >>> hours = plan(Domain.unit(8), epsilon=1, users=5000, every="hour-of-day")
    >>> hours.slices, hours.how, [round(error, 3) for error in hours.expected_emd]
    (24, 'blocks', [0.007, 0.038])
    """
    if not isinstance(domain, Domain):
        raise DomainError("A plan is for a domain. Make one with Domain.bbox, Domain.image or Domain.unit.")
    times = _number_of_slices(every, start, end, slices)
    if times is not None or groups is not None:
        from dpheatmap.planning.slice_plans import plan_slices

        return plan_slices(
            domain, epsilon=epsilon, users=users, slices=times, groups=groups, width=width, decay=decay, design=design,
            places=places, trusted=trusted, people_share=people_share,
        )  # fmt: skip
    exact = read_epsilon(epsilon)
    check(users=users, width=width, decay=decay, design=design, trusted=trusted)
    if places is not None:
        check(places=places)
    settings = Settings(design=design, width=int(width), decay=decay, people_share=people_share)
    share, people_error, other = None, None, None
    if trusted == "curator":
        choose_design(domain, exact, settings)
        forecast = FORECASTS[design]
        levels = _levels(domain, exact, users, forecast.planned_shares(domain, exact, users, settings))
        error = _map_error(domain, exact, users, settings, places)
        choice = sparse_or_dense(domain, exact, users, design, places=places)
        people_error = _NINE_IN_TEN * forecast.deviation_of_total(domain, exact, users, settings)
        if "people_share" in DESIGNS[design].takes:
            share = DEFAULT_TOTAL if people_share is None else as_epsilon(people_share)
            instead = replace(settings, people_share=_MORE if share < _MORE else DEFAULT_TOTAL)
            off = _NINE_IN_TEN * forecast.deviation_of_total(domain, exact, users, instead)
            map_error = _map_error(domain, exact, users, instead, places)
            other = OtherShare(as_epsilon(instead.people_share), off, map_error)
    elif people_share is not None:
        raise ParameterError("people_share is what a curator sets aside, and there is none. Leave it out.")
    elif trusted == "servers":
        design, forecast = AdaptiveDesign.name, FORECASTS[AdaptiveDesign.name]
        choice = Choice(design, "Servers choose each question by what they have published before.")
        levels, error = _levels_of_servers(domain, exact, users, settings, places)
    else:
        design, forecast = PaperDesign.name, FORECASTS[PaperDesign.name]
        choice = Choice(design, "Devices are asked once, and all levels are measured.")
        levels, error = _levels_at_once(domain, exact, users, trusted, settings, places)
    parts, stand_out = [level.epsilon for level in levels], [level.smallest_share <= _VISIBLE for level in levels]
    seen = forecast.finest_visible(Fraction(1, 20) * users, parts, stand_out)
    feature = None if seen is None else levels[seen]
    return Plan(
        domain=domain, epsilon=exact, users=users, design=design, levels=levels, expected_emd=error,
        smallest_feature=feature.cell if feature else None,
        advice=_advice(domain, exact, users, error, feature, trusted), better=choice.design, why=choice.why,
        bounds=_theory(domain, exact, users, int(width), decay, places), trusted=trusted, people_share=share,
        people_error=people_error, other_share=other,
    )  # fmt: skip


def _number_of_slices(every: str | None, start: Any, end: Any, slices: int | None) -> int | None:
    """The number of slices of time that the options name, or None without slices."""
    if every is not None and slices is not None:
        raise ParameterError("every (--every) and slices (--slices) both tell the number of slices. Keep one of them.")
    if every is not None:
        return len(Period.of(every, None, start, end).labels)
    if start is not None or end is not None:
        raise ParameterError(
            "start and end (--from and --to) are the range of slices of time. Say what a slice is: every (--every)."
        )
    return slices


def _map_error(domain: Domain, epsilon: Fraction, users: int, settings: Settings, places: int | None) -> float:
    """The forecast of a design's error; it was measured with the usual part of epsilon for the number of people."""
    share = DEFAULT_TOTAL if settings.people_share is None else as_epsilon(settings.people_share)
    rest = epsilon * (1 - share) / (1 - DEFAULT_TOTAL)
    return FORECASTS[str(settings.design)].expected_error(domain, rest, users, settings, places)


def _levels_at_once(
    domain: Domain, epsilon: Fraction, users: int, trusted: str, settings: Settings, places: int | None
) -> tuple[tuple[LevelPlan, ...], float]:
    """The levels that are measured at once, and the expected error.

    In the local model a count is estimated from the reports about its level, with the variance of its response
    (`variance_of_report`).
    """
    if trusted == "nobody":
        signal = users / variance_of_report(float(epsilon))
        last = depth_worth_asking(domain, Fraction(signal), width=settings.width)
        shares = one_level_each(domain, width=settings.width, depth=last).shares
        spread = {level: variance_of_report(float(epsilon), domain.count(level)) for level in shares}
        noise = {level: math.sqrt(spread[level] * users * SHARES / share) for level, share in shares.items()}
        return tuple(_level(domain, users, k, epsilon, noise[k]) for k in noise), local_error(signal)
    shares = all_at_once(domain, width=settings.width, decay=as_epsilon(settings.decay)).shares
    error = FORECASTS[PaperDesign.name].expected_error(domain, epsilon, users, settings, places)
    return _levels(domain, epsilon, users, dict(shares)), error


def _levels_of_servers(
    domain: Domain, epsilon: Fraction, users: int, settings: Settings, places: int | None
) -> tuple[tuple[LevelPlan, ...], float]:
    """The levels that two servers will ask about, and the expected error: that of a curator with their noise."""
    as_strong = SummedLoss(epsilon, servers=2).strength(SHARES)
    asked, forecast = replace(settings, design=AdaptiveDesign.name), FORECASTS[AdaptiveDesign.name]
    shares = forecast.planned_shares(domain, as_strong, users, asked)
    error = forecast.expected_error(domain, as_strong, users, asked, places)
    return _levels(domain, epsilon, users, shares, math.sqrt(2)), error


def _theory(
    domain: Domain, epsilon: Fraction, users: int, width: int, decay: float | Fraction, places: int | None
) -> Theory:
    return Theory(
        bounds.sparse(domain, epsilon, users, width=width, decay=decay).value,
        bounds.dense(domain, epsilon, users).value,
        bounds.lower(domain, epsilon, users, places=places),
    )


def _levels(
    domain: Domain, epsilon: Fraction, users: int, shares: dict[int, int], factor: float = 1.0
) -> tuple[LevelPlan, ...]:
    parts = {level: part(epsilon, share) for level, share in shares.items()}
    return tuple(_level(domain, users, level, eps, factor * math.sqrt(2) / eps) for level, eps in parts.items())


def _level(domain: Domain, users: int, level: int, epsilon: Fraction, noise: float) -> LevelPlan:
    finest = domain.cells(domain.depth)
    middle = (finest.y0 + finest.y1) / 2
    cell = float(domain.lengths_of_cells(level, middle / 2 ** (domain.depth - level)))
    return LevelPlan(level, epsilon, cell, noise, min(1.0, _CERTAIN * noise / users))


def _advice(domain: Domain, epsilon: Fraction, users: int, error: float, seen: LevelPlan | None, trusted: str) -> str:
    start = f"With {users} people at epsilon {float(epsilon):g}{_TRUSTING[trusted]}"
    if seen is None or error > 0.12:
        more = "More people or a larger epsilon would show more."
        return f"{start} expect little more than the outline: where about half of the people are. {more}"
    size = domain.length_in_words(seen.cell)
    busy = f"a place that holds {_VISIBLE:.0%} of the people will be seen down to about {size}"
    if error > 0.03:
        return f"{start} expect the main centres; {busy}."
    deeper = " The finest level is reached: a finer resolution would show more." if seen.level == domain.depth else ""
    return f"{start} expect a good map; {busy}.{deeper}"
