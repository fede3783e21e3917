"""Ladders of any domain, epsilon, start and depth: what was released is read, and any rule is read or refused."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.quadtree import encode
from dpheatmap.releases.release import Release
from dpheatmap.releases.release_file import problem_of
from dpheatmap.testing import seeded_release
from helpers.ladder_rows import made_of_all, problem, rows_of

DOMAINS = st.one_of(
    st.integers(0, 6).map(dph.Domain.unit),
    st.builds(dph.Domain.image, st.integers(1, 90), st.integers(1, 90)),
    st.builds(
        lambda width, height, depth: dph.Domain.image(width, height, depth=depth),
        st.integers(1, 90), st.integers(1, 90), st.integers(0, 8),
    ),
    st.builds(
        lambda west, south, depth: dph.Domain.bbox(west, south, west + 0.3, south + 0.1, depth=depth),
        st.floats(-170, 170), st.floats(-70, 70), st.integers(3, 24),
    ),
)  # fmt: skip
EPSILONS = st.sampled_from(["1/1000", "0.1", "1", "7", "100", "12345.678", "1000000"])


@pytest.fixture(scope="module")
def release() -> Release:
    """A release with cells of every kind."""
    return made_of_all()


@settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(domain=DOMAINS, epsilon=EPSILONS, seed=st.integers(0, 2**32), data=st.data())
def test_every_honest_release_is_read(domain: dph.Domain, epsilon: str, seed: int, data: st.DataObject) -> None:
    last = data.draw(st.integers(0, domain.depth), "depth")
    options: dict[str, Any] = data.draw(
        st.sampled_from([{}, {"depth": last}, {"first_level": last}, {"first_level": 0, "depth": last}]), "options"
    )
    options = {**options, "first_level": 0} if domain.count(options.get("first_level", 0)) > 5000 else options
    made = seeded_release(crowd(domain, seed), epsilon=epsilon, design="ladder", seed=seed, **options)
    assert problem_of(made) is None


def crowd(domain: dph.Domain, seed: int) -> dph.Counts:
    """Nobody, a few people, or many more in some places than in others."""
    rng = np.random.default_rng(seed)
    r = domain.cells(domain.depth)
    people = int(rng.choice([0, 3, 200, 3000]))
    spread = rng.choice([0.02, 0.3, 1])
    x, y = (np.minimum((rng.random(people) ** (1 / spread) * n).astype(np.int64), n - 1) for n in (r.columns, r.rows))
    codes, number = np.unique(encode(r.x0 + x, r.y0 + y), return_counts=True)
    return dph.Counts.in_order(domain, codes, number * UNITS)


def test_every_start_and_every_depth_is_read() -> None:
    """One domain with an edge, and each pair of a first and a last level."""
    domain = dph.Domain.image(21, 50)
    for last in range(domain.depth + 1):
        for first in range(last + 1):
            made = seeded_release(
                crowd(domain, first), epsilon=9, design="ladder", seed=last, first_level=first, depth=last
            )
            assert made.design == LadderDesign(first, last, total=Fraction(0))
            assert problem_of(made) is None
        assert problem_of(seeded_release(crowd(domain, 1), epsilon=9, design="ladder", seed=1, depth=last)) is None


ANYTHING = st.one_of(
    st.fractions(-2, 40).map(str), st.integers(-3, 40).map(str), st.sampled_from(["1e-9", "1e9", "1e-300", "1e300"])
)


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    rule=st.dictionaries(st.sampled_from([field.name for field in fields(LadderDesign)]), ANYTHING),
    domain=st.one_of(st.just(dph.Domain.unit(7)), DOMAINS),
    epsilon=EPSILONS,
    seed=st.integers(0, 2**32),
)
def test_whatever_a_rule_says_the_release_is_read_or_refused(
    release: Release, rule: dict[str, str], domain: dph.Domain, epsilon: str, seed: int
) -> None:
    """Never another error, and never slowly."""
    metadata = {"rule": {**release.design.to_dict(Fraction)["rule"], **rule}}
    try:
        design = LadderDesign.from_dict(metadata)
    except (ValueError, ParameterError):
        return
    rows = rows_of(release)
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(rows), int(rng.integers(0, 4))):
        code, noisy = int(rng.integers(0, 4**28)), int(rng.integers(-FARTHEST, FARTHEST))
        rows[place] = rows[place]._replace(code=code, noisy=noisy)
    found = problem(replace(release, design=design, domain=domain, loss=PureLoss.read(epsilon)), rows)
    assert found is None or found
