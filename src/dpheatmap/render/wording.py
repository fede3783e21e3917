"""The words around a map, and numbers in words: lengths, epsilon, and densities in a readable unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.heatmap.differences import Difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.release import Release

TITLE = "Where people are"

NOT_PRIVATE = "NOT PRIVATE: made with a seed"
NO_SIGNAL = "No signal above the noise: every cell has the same share"


def density_in_words(heat: Heatmap) -> tuple[Floats, str]:
    """The map's densities in a readable unit, and the name of that unit.

    The unit is the smallest area that holds half a per cent of people somewhere, so that the value of the hottest spot
    is 0.5 to 50 %.
    """
    factor, name = unit_of_density(heat.domain, float(heat.density.max()))
    return factor * heat.density, name


def unit_of_density(domain: Domain, hottest: float) -> tuple[float, str]:
    """The unit for densities up to the hottest: the conversion factor, and the name."""
    areas = domain.place.units.areas
    if not areas:
        return 1.0, "density (1 = uniform)"
    area, name = next((unit for unit in areas if 100.0 * hottest * unit[0] >= 0.5), areas[-1])
    return 100.0 * area, f"% of people per {name}"


@dataclass(frozen=True)
class Words:
    """The words around a map: the title, the badge, and the small print, warnings first."""

    title: str
    badge: str
    warnings: tuple[str, ...]
    facts: tuple[str, ...]


def words_of(heat: Heatmap, title: str | None = None) -> Words:
    """The words around a heatmap."""
    facts = (
        f"{promise_in_words(heat)} per person",
        *trust_in_words(heat),
        *combined_in_words(heat),
        *priors_in_words(heat),
        f"smoothing {length_in_words(heat.sigma, heat.domain)}",
        f"made with dpheatmap, {heat.made:%Y-%m-%d}",
    )
    badge = _badge(heat.loss, "per person", seeded=heat.seeded)
    return Words(title or TITLE, badge, warnings_of(heat, empty=heat.empty), facts)


def words_of_difference(change: Difference) -> Words:
    """The words around a difference; for people who are in both releases, the privacy losses add up."""
    before, after = change.before, change.after
    warnings = (warning for heat in (before, after) for warning in warnings_of(heat, empty=heat.empty))
    return Words(
        "What changed: B minus A",
        _badge(before.loss + after.loss, "per person for both maps", seeded=before.seeded or after.seeded),
        tuple(dict.fromkeys(warnings)),
        (
            f"A: {promise_in_words(before)} per person, {before.made:%Y-%m-%d}",
            f"B: {promise_in_words(after)} per person, {after.made:%Y-%m-%d}",
            f"smoothing {length_in_words(change.sigma, change.domain)}",
            "made with dpheatmap",
        ),
    )


def _badge(loss: PrivacyLoss, whose: str, *, seeded: bool) -> str:
    """The privacy promise in short, or that there is none."""
    delta = f", δ = {epsilon_in_words(loss.delta)}" if loss.delta else ""
    return "Not private" if seeded else f"Private · ε = {epsilon_in_words(loss.epsilon)}{delta} {whose}"


def warnings_of(made: Heatmap | Release, *, empty: bool) -> tuple[str, ...]:
    """The warnings, which come first; ``empty`` means that nothing rose above the noise."""
    return (NOT_PRIVATE,) * made.seeded + (NO_SIGNAL,) * empty


def promise_in_words(made: Heatmap | Release) -> str:
    """Epsilon, and delta if there is one."""
    epsilon = f"epsilon = {epsilon_in_words(made.loss.epsilon)}"
    return f"{epsilon}, delta = {epsilon_in_words(made.loss.delta)}" if made.loss.delta else epsilon


def trust_in_words(made: Heatmap | Release) -> tuple[str, ...]:
    """Who was trusted if there was no curator."""
    trusted = {"shuffler": "a shuffler", "servers": f"one of {made.noise.summed} servers", "nobody": "nobody"}
    return (f"trusted: {trusted[made.trust.who]}",) if made.trust.collected else ()


def combined_in_words(made: Heatmap | Release) -> tuple[str, ...]:
    """Each release that a map combines, with its privacy loss."""
    used = () if isinstance(made, Release) else made.combined
    return tuple(f"combines a release with {promise_in_words(each)}, {each.made:%Y-%m-%d}" for each in used)


def priors_in_words(made: Heatmap | Release) -> tuple[str, ...]:
    """Each earlier release that the map's prior was made from, with its privacy loss."""
    used = () if isinstance(made, Release) else made.priors
    return tuple(f"prior: a release with {promise_in_words(each)}, {each.made:%Y-%m-%d}" for each in used)


def length_in_words(length: float, domain: Domain) -> str:
    """A length on the ground, in pixels or in sides, to three digits.

    >>> length_in_words(1234.5, Domain.bbox(6, 50, 7, 51)), length_in_words(0.02, Domain.unit())
    ('1.23 km', '0.02 of the side')
    """
    number, unit = domain.place.readable_length(length)
    return f"{_three_digits(number)} {unit}"


def epsilon_in_words(epsilon: Fraction) -> str:
    """Write epsilon as a short decimal or fraction if it is one, else approximately.

    >>> epsilon_in_words(Fraction(1, 4)), epsilon_in_words(Fraction(1, 3)), epsilon_in_words(Fraction(10**9, 7**11))
    ('0.25', '1/3', 'about 0.506')
    """
    decimal = f"{float(epsilon):.10g}"
    if Fraction(decimal) == epsilon:
        return decimal
    return str(epsilon) if len(str(epsilon)) <= 9 else f"about {_three_digits(float(epsilon))}"


def _three_digits(value: float) -> str:
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"
