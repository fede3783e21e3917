"""One rule for a name, one sentence for a refusal, and every public function keeps them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap._util.parameters import DEEPEST, RULES, SIGMAS, check
from dpheatmap.design.paper import all_at_once
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.errors import DataError, DomainError, ParameterError, PrivacyRefusal
from dpheatmap.heatmap.smoothing import gaussian_filter
from dpheatmap.releases.noise_law import LaplaceNoise
from dpheatmap.releases.trust import Trust
from dpheatmap.testing import generated_people

DOMAIN = dph.Domain.unit(4)
NOWHERE = "/nonexistent/events.csv"
MANY, TINY = 10**400, Fraction(1, 10**5000)
BAD: list[Any] = [
    0,
    -1,
    0.5,
    math.nan,
    math.inf,
    None,
    "x",
    True,
    False,
    MANY,
    -MANY,
    10**5000,
    TINY,
    [],
    {},
    b"x",
    1j,
    np.nan,
]
BAD += [Decimal("NaN"), Fraction(-1, 3), np.int64(-1), np.zeros(2), object(), int]

NUMBERS: dict[str, list[Any]] = {
    "resolution": [0.5],
    "sigma": [0.5],
    "decay": [0.5],
    "epsilon": [0.5],
    "rho": [0.5],
    "was": [0.5],
    "top": [0.5],
    "emd": [0, 0.5, TINY],
    "share": [0.5],
    "people_share": [0.5],
}
GOOD: dict[str, list[Any]] = {
    **NUMBERS,
    "depth": [0],
    "first_level": [0],
    **{
        name: ["x"]
        for name in (
            "user",
            "x",
            "y",
            "to_x",
            "to_y",
            "geometry",
            "weight",
            "where",
            "image",
            "population",
            "part",
            "table",
            "layer",
            "time",
            "group",
        )
    },
    "crs": ["x"],
    "areas_crs": ["x"],
    "each_row_is_a_person": [True, False],
    "each_row_is_a_trip": [True, False],
    "seed": [0],
    "uncertain": [True, False],
    "same": [True, False],
    "bare": [True, False],
    "basemap": [True, False],
    **{name: ["x"] for name in ("title", "subtitle", "source", "what", "background", "context_credit")},
    "context": ["x"],
    "h3": [0],
    "delta": [0],
    "servers": [0],
}
"""Those of the bad values that are good ones for a name."""


@cache
def nobody() -> dph.Counts:
    none = np.zeros(0, dtype=np.int64)
    return dph.Counts.from_cells(DOMAIN, none, none, none)


@cache
def release(number: int = 0) -> dph.Release:
    """One of several releases about nobody, each with noise of its own."""
    return dph.release(nobody(), epsilon=1)


@cache
def heat() -> dph.Heatmap:
    return release().heatmap(size=4)


@cache
def change() -> dph.Difference:
    return dph.difference(release(), release(1), size=4)


@cache
def sliced() -> dph.SlicedRelease:
    table = generated_people(20).project("*, 'bike' AS mode")
    return dph.release(table, DOMAIN, epsilon=1, user="person", x="x", y="y", group="mode", groups=["bike", "walk"])


@cache
def places() -> dph.Places:
    return dph.kmedian(release(), 3)


def suffix_for(options: dict[str, Any]) -> str:
    """A format that takes the option."""
    return "html" if "tiles" in options else "png"


TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
COLUMNS = {"user": "who", "x": "lon", "y": "lat"}
CALLS: dict[str, Callable[..., object]] = {
    "Domain.bbox": lambda **k: dph.Domain.bbox(0, 0, 1, 1, **k),
    "Domain.polygon": lambda **k: dph.Domain.polygon(TRIANGLE, **k),
    "Domain.image": lambda **k: dph.Domain.image(**{"width": 64, "height": 48, **k}),
    "Domain.unit": dph.Domain.unit,
    "discover": lambda **k: dph.discover(NOWHERE, **{"epsilon": 1, **COLUMNS, **k}),
    "Domain.first_level": DOMAIN.first_level,
    "aggregate": lambda **k: dph.aggregate(NOWHERE, DOMAIN, **{**COLUMNS, **k}),
    "release": lambda **k: dph.release(NOWHERE, DOMAIN, **{"epsilon": 1, **COLUMNS, **k}),
    "release_images": lambda **k: dph.release_images(
        NOWHERE, DOMAIN, **{"image": "i", "images": ["a"], "epsilon": 1, **COLUMNS, **k}
    ),
    "sql": lambda **k: dph.sql(DOMAIN, **{"dialect": "trino", "table": "t", **COLUMNS, **k}),
    "read_counts": lambda **k: dph.read_counts(NOWHERE, DOMAIN, **k),
    "Ledger.limit": lambda **k: dph.Ledger(NOWHERE).limit(**{"population": "p", "epsilon": 1, **k}),
    "Ledger.change_limit": lambda **k: dph.Ledger(NOWHERE).change_limit(
        **{"population": "p", "epsilon": 1, "was": 2, **k}
    ),
    "Ledger.note_files": lambda **k: dph.Ledger(NOWHERE).note_files(**{"population": "p", "marks": [], **k}),
    "Ledger.warning": lambda **k: dph.Ledger(NOWHERE).warning(**{"population": "p", "name": "f", "marks": [], **k}),
    "Ledger.charge": lambda **k: dph.Ledger(NOWHERE).charge(**{"population": "p", "epsilon": 1, **k}),
    "Ledger.check": lambda **k: dph.Ledger(NOWHERE).check(**{"population": "p", "epsilon": 1, **k}),
    "Ledger.reserve": lambda **k: dph.Ledger(NOWHERE).reserve(**{"population": "p", "epsilon": 1, "releases": 2, **k}),
    "DailyReleases.start": lambda **k: dph.DailyReleases.start(
        "/nonexistent/days",
        DOMAIN,
        **{"first": "2024-06-01", "days": 3, "limit": 1, "users": 100, "ledger": NOWHERE, "population": "p", **k},
    ),
    "baseline": lambda **k: dph.baseline(nobody(), **{"epsilon": 1, **k}),
    "plan": lambda **k: dph.plan(DOMAIN, **{"epsilon": 1, "users": 100, **k}),
    "bounds.sparse": lambda **k: dph.bounds.sparse(DOMAIN, **{"epsilon": 1, "users": 100, **k}),
    "bounds.dense": lambda **k: dph.bounds.dense(DOMAIN, **{"epsilon": 1, "users": 100, **k}),
    "bounds.lower": lambda **k: dph.bounds.lower(DOMAIN, **{"epsilon": 1, "users": 100, **k}),
    "bounds.from_emd": lambda **k: dph.bounds.from_emd(**{"emd": 0.1, "sigma": 0.1, **k}),
    "Release.sample": lambda **k: release().sample(**{"points": 3, **k}),
    "Release.areas": lambda **k: release().areas({"all": (0, 0, 1, 1)}, **k),
    "Release.exceeds": lambda **k: release().exceeds({"all": (0, 0, 1, 1)}, **k),
    "Release.save_areas": lambda **k: release().save_areas({"all": (0, 0, 1, 1)}, "/nonexistent/map.png", **k),
    "Release.heatmap": lambda **k: release().heatmap(**k),
    "Heatmap.save": lambda **k: heat().save(f"/nonexistent/map.{suffix_for(k)}", **k),
    "SlicedRelease.heatmap": lambda **k: sliced().heatmap(**k),
    "Release.widget": lambda **k: release().widget({"all": (0, 0, 1, 1)}, **k),
    "SlicedRelease.areas": lambda **k: sliced().areas({"all": (0, 0, 1, 1)}, **k),
    "SlicedRelease.area_changes": lambda **k: sliced().area_changes({"all": (0, 0, 1, 1)}, "bike", "walk", **k),
    "SlicedRelease.sample": lambda **k: sliced().sample(**{"points": 3, **k}),
    "Slice.sample": lambda **k: sliced().slice("bike").sample(**{"points": 3, **k}),
    "Slice.areas": lambda **k: sliced().slice("bike").areas({"all": (0, 0, 1, 1)}, **k),
    "Slice.exceeds": lambda **k: sliced().slice("bike").exceeds({"all": (0, 0, 1, 1)}, **k),
    "Slice.widget": lambda **k: sliced().slice("bike").widget({"all": (0, 0, 1, 1)}, **k),
    "Slice.save_areas": lambda **k: (
        sliced().slice("bike").save_areas({"all": (0, 0, 1, 1)}, "/nonexistent/map.png", **k)
    ),
    "Slice.heatmap": lambda **k: sliced().slice("bike").heatmap(**k),
    "Slice.distribution": lambda **k: sliced().slice("bike").distribution(**k),
    "Series.save": lambda **k: sliced().heatmap(size=4).save("/nonexistent/map.png", **k),
    "Difference.save": lambda **k: change().save("/nonexistent/map.html", **k),
    "Heatmap.to_h3": lambda **k: heat().to_h3(**k),
    "kmedian": lambda **k: dph.kmedian(release(), **{"k": 3, **k}),
    "Places.intervals": lambda **k: places().intervals(**k),
    "Release.distribution": lambda **k: release().distribution(**k),
    "Heatmap.interval": lambda **k: heat().interval(**k),
    "Heatmap.significant": lambda **k: heat().significant(**k),
    "combine": lambda **k: dph.combine([release(), release(1)], **{"same": True, **k}),
    "Combination.heatmap": lambda **k: dph.combine([release(), release(1)], same=True).heatmap(**k),
    "difference": lambda **k: dph.difference(release(), release(1), **k),
    "Difference.significant": lambda **k: change().significant(**k),
    "plan_releases": lambda **k: dph.plan_releases(DOMAIN, **{"releases": 2, "limit": 1, "users": 100, **k}),
    "Release.collected": lambda **k: dph.Release.collected(
        DOMAIN,
        all_at_once(DOMAIN),
        np.zeros(336, np.int64),
        loss=PureLoss(Fraction(1)),
        trust=Trust("servers", 5),
        noise=LaplaceNoise(Fraction(2)),
        **k,
    ),
    "collect.DeviceAccount.set_limit": lambda **k: dph.collect.DeviceAccount("/nonexistent/account").set_limit(**k),
    "collect.ServerTerms.of": lambda **k: dph.collect.ServerTerms.of(
        DOMAIN, **{"epsilon": 1, "n_min": 20, "n_max": 30, **k}
    ),
    "collect.ShuffleTerms.of": lambda **k: dph.collect.ShuffleTerms.of(
        DOMAIN, **{"epsilon": 1, "n_min": 20, "n_max": 30, **k}
    ),
    "collect.LocalTerms.of": lambda **k: dph.collect.LocalTerms.of(DOMAIN, **{"epsilon": 1, **k}),
}
"""Each public function that takes a name of the rules, with everything else that it needs. The tables don't exist:
whatever is refused is refused before a table is opened."""

ALIASES = {
    ("Domain.image", "width"): "image_width",
    ("Domain.image", "height"): "image_height",
    **{(f"{kind}.sample", "points"): "sample_points" for kind in ("Release", "SlicedRelease", "Slice")},
}


def public_functions() -> Iterator[tuple[str, Callable[..., object]]]:
    places = [("", dph), ("collect.", dph.collect)]
    for name, value in ((f"{p}{n}", getattr(place, n)) for p, place in places for n in place.__all__):
        if inspect.isclass(value):
            for method, function in inspect.getmembers(value, callable):
                if not method.startswith("_"):
                    yield f"{name}.{method}", function
        elif inspect.ismodule(value) and value is not dph.collect:
            yield from ((f"{name}.{one}", getattr(value, one)) for one in getattr(value, "__all__", ()))
        elif callable(value):
            yield name, value


def pairs() -> Iterator[Any]:
    """Every public function with every parameter of it that has a rule; whether it may be left out by giving None."""
    for where, function in public_functions():
        for parameter in inspect.signature(function).parameters.values():
            rule = ALIASES.get((where, parameter.name), parameter.name)
            # x, y and weight are also what points and cells are given by, and a design can be given itself. A source is
            # also one of random bytes, and what a collection is for. Releases are also the releases themselves.
            if rule in RULES and not (
                (rule in ("x", "y", "weight", "design", "noise") and "str" not in str(parameter.annotation))
                or (rule in ("source", "what") and where.startswith("collect."))
                or (rule == "releases" and parameter.annotation != "int")
            ):
                yield pytest.param(
                    where, parameter.name, rule, parameter.default is None, id=f"{where}-{parameter.name}"
                )


def test_the_table_above_has_every_function_that_takes_a_rules_name() -> None:
    found = {pair.values[0] for pair in pairs()}
    assert found == set(CALLS)
    checked = {pair.values[2] for pair in pairs()}
    assert checked == set(RULES), "a rule that no public function keeps"


@pytest.mark.parametrize(("where", "parameter", "rule", "optional"), list(pairs()))
def test_every_function_refuses_every_bad_value_in_one_sentence(
    where: str, parameter: str, rule: str, optional: bool
) -> None:
    for value in BAD:
        if any(value is good for good in GOOD.get(rule, [])) or (optional and value is None):
            continue
        if any(type(value) is type(good) and value == good for good in GOOD.get(rule, [])):
            continue
        with pytest.raises(ParameterError) as refusal:
            CALLS[where](**{parameter: value})
        assert str(refusal.value).startswith(f"{rule} must be {RULES[rule].words}; it was "), value
        assert str(refusal.value).endswith(f". {RULES[rule].advice}")
        assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    "whole", [np.array([77001, 77002]), ["77001"], {"77001": 1}], ids=lambda whole: type(whole).__name__
)
@pytest.mark.parametrize("role", ["user", "x", "weight", "where", "images", "epsilon", "sigma"])
def test_a_column_given_for_its_name_does_not_show_in_the_refusal(role: str, whole: object) -> None:
    """An error may end in a log, and what was given is the data itself."""
    if role == "images" and isinstance(whole, list):
        whole = {77001}
    with pytest.raises(ParameterError, match=f"it was of the type {type(whole).__name__}") as refusal:
        check(**{role: whole})
    assert "77001" not in str(refusal.value)


@pytest.mark.parametrize("where", ["release", "aggregate", "release_images", "discover"])
def test_with_good_values_the_table_is_opened_and_only_then_missed(where: str) -> None:
    with pytest.raises(DataError, match="No file is called"):
        CALLS[where](memory=64)


@pytest.mark.parametrize("rule", RULES)
def test_rules_refuse_what_they_should_and_no_more(rule: str) -> None:
    for value in GOOD.get(rule, []):
        check(**{rule: value})
    with pytest.raises(ParameterError):
        check(**{rule: object()})


@pytest.mark.parametrize(
    ("rule", "low", "high"),
    [("depth", 0, DEEPEST), ("width", 1, 2**20), ("first_level", 0, DEEPEST), ("users", 1, 10**12), ("size", 1, 8192),
     ("places", 1, 10**12),
     ("image_width", 1, 2**DEEPEST), ("image_height", 1, 2**DEEPEST), ("memory", 64, 2**20), ("n_min", 2, 2**20),
     ("n_max", 2, 2**20), ("units", 1, 2**30), ("servers", 0, 16), ("releases", 1, 1000), ("days", 1, 1000),
     ("series", 1, 2**53)],
)  # fmt: skip
def test_whole_numbers_run_from_end_to_end(rule: str, low: int, high: int) -> None:
    for value in (low, high, np.int64(low), np.int64(high)):
        check(**{rule: value})
    for outside in (low - 1, high + 1, float(low), str(low), np.float64(low)):
        with pytest.raises(ParameterError, match=rf"^{rule} must be a whole number from {low} to {high}; it was "):
            check(**{rule: outside})


@pytest.mark.parametrize("rule", ["sigma", "resolution", "decay"])
def test_numbers_may_be_of_any_real_type(rule: str) -> None:
    for value in (1, 0.25, 1e-30, Fraction(1, 3), np.float32(0.5), np.float64(1), np.int64(1)):
        check(**{rule: value})
    if rule == "decay":
        with pytest.raises(ParameterError, match="decay must be a number above 0 and at most 1; it was 1"):
            check(decay=1.0000001)


@pytest.mark.parametrize("rule", ["design", "method"])
def test_choices_are_listed(rule: str) -> None:
    with pytest.raises(
        ParameterError, match=rf"^{rule} must be one of .*'paper'.*; it was 'PAPER'\. Pick one of these\.$"
    ):
        check(**{rule: "PAPER"})


def test_a_parameter_error_is_a_value_error_with_exit_code_2() -> None:
    assert issubclass(ParameterError, ValueError)
    assert ParameterError.exit_code == DomainError.exit_code == 2


def test_columns_must_be_named() -> None:
    for missing, words in (("x", "x must name"), ("y", "y must name")):
        with pytest.raises(ParameterError, match=words):
            dph.release(NOWHERE, DOMAIN, epsilon=1, **{**COLUMNS, missing: None})  # type: ignore[call-overload]
    with pytest.raises(PrivacyRefusal, match="No public domain"):
        dph.release(NOWHERE, epsilon=1, **COLUMNS)  # type: ignore[call-overload]
    with pytest.raises(PrivacyRefusal, match="No public domain"):
        dph.aggregate(NOWHERE, (0, 0, 1, 1), **COLUMNS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("extra", "words"),
    [({"user": "who"}, "user"), ({"x": "x", "y": "y"}, "x, y"), ({"where": "x > 1"}, "where"),
     ({"memory": 100}, "memory"), ({"each_row_is_a_person": True}, "each_row_is_a_person"),
     ({"domain": dph.Domain.unit(5)}, "another domain")],
)  # fmt: skip
def test_counts_already_have_their_columns(extra: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=f"Counts already have their domain and columns, and {words} was given"):
        dph.release(nobody(), epsilon=1, **extra)
    assert dph.release(nobody(), DOMAIN, epsilon=1).domain == DOMAIN


@pytest.mark.parametrize("limits", [(1, 50), [0.5, 2.0]])
def test_limits_are_two_numbers(limits: Any) -> None:
    check(limits=limits)
    for bad in ((0, 1), (2, 1), (1, 1), (1, math.inf), (math.nan, 1), (1,), (1, 2, 3), ("1", "2"), (True, 2), "1,50"):
        with pytest.raises(ParameterError, match="limits must be two numbers above 0, the lower first"):
            check(limits=bad)


@pytest.mark.parametrize(("rule", "words"), [("style", "'bands', 'smooth', 'contour'"), ("colours", "'light', 'dark'")])
def test_looks_are_listed(rule: str, words: str) -> None:
    for word in words.replace("'", "").split(", "):
        check(**{rule: word})
    with pytest.raises(ParameterError, match=f"{rule} must be one of {words}; it was 'heat'"):
        check(**{rule: "heat"})


CAPTIONS = ["title", "subtitle", "source", "what", "context_credit", "names"]


def as_caption(rule: str, text: str) -> Any:
    return ("by day", text) if rule == "names" else text


@pytest.mark.parametrize("rule", CAPTIONS)
@pytest.mark.parametrize(
    "text", ["a\x00b", "a\x1b[31mb", "a\nb", "a\rb", "a\x85b", "a\ud800b", "a\ufffeb", "\uffff", "x" * 301]
)
def test_what_can_not_be_written_on_every_map_is_refused(rule: str, text: str) -> None:
    with pytest.raises(ParameterError, match="of up to 300 characters, none of them a control character; it was"):
        check(**{rule: as_caption(rule, text)})


@pytest.mark.parametrize("rule", CAPTIONS)
@pytest.mark.parametrize("text", ["Où & <b>", "👩\u200d👧", "مرحبا", "{0} %s $x$", "x" * 300])
def test_what_can_be_written_is_not_refused(rule: str, text: str) -> None:
    check(**{rule: as_caption(rule, text)})


@pytest.mark.parametrize("sigma", [1e200, 1e308, 1e-320, 1e31, 1e-31])
def test_smoothing_beyond_all_places_is_refused(sigma: float) -> None:
    said = r"^sigma must be a number from 1e-30 to 1e\+30; it was .*\. It is in ground metres"
    with pytest.raises(ParameterError, match=said):
        release().heatmap(sigma=sigma)
    with pytest.raises(ParameterError, match=said):
        dph.bounds.from_emd(0.01, sigma)


@pytest.mark.parametrize("domain", [DOMAIN, dph.Domain.image(64, 48), dph.Domain.bbox(7.3, 46.9, 7.5, 47.0, depth=4)])
@pytest.mark.parametrize("sigma", SIGMAS)
def test_smoothing_up_to_the_bounds_is_no_change_or_a_uniform_map(domain: dph.Domain, sigma: float) -> None:
    raster = np.random.default_rng(0).dirichlet(np.ones(12)).reshape(3, 4)
    want = raster if sigma < 1 else np.full(raster.shape, raster.mean())
    np.testing.assert_allclose(gaussian_filter(raster, domain, sigma), want, rtol=1e-9)
