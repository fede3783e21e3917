"""The colours: as they were chosen, in order, and told apart with every kind of colour vision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from dpheatmap.place.domain import Floats
from dpheatmap.render.palette import (
    DARK,
    LIGHT,
    OVER_A_PICTURE,
    THEMES,
    WARNING,
    Control,
    Theme,
    band_colours,
    change_colours,
    curve_in_oklab,
    linear_rgb,
    opacities,
    over,
    rgb_of,
    shades,
)

every_theme = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)

# Linear sRGB to the responses of cones, and the cube roots of these to OKLab (Ottosson, 2020).
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# Colour vision that lacks a kind of cone, in linear sRGB, at full strength (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
EVERY_VISION = [*VISION]


def linear(colour: str) -> Floats:
    """Red, green and blue in parts of the light."""
    part = np.array(rgb_of(colour)) / 255.0
    light: Floats = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return light


def oklab(colour: str, vision: str = "normal") -> Floats:
    """A colour as somebody sees it."""
    seen: Floats = TO_LAB @ np.cbrt(TO_CONES @ np.clip(VISION[vision] @ linear(colour), 0.0, 1.0))
    return seen


def apart(one: str, other: str, vision: str) -> float:
    """A hundred times the distance in OKLab."""
    return 100.0 * float(np.linalg.norm(oklab(one, vision) - oklab(other, vision)))


def on_land(theme: Theme, colours: list[str], between: tuple[float, float]) -> list[str]:
    parts = opacities(len(colours), between)
    return [over(colour, part, theme.land) for colour, part in zip(colours, parts, strict=True)]


def swatches(theme: Theme, bands: int = 6) -> list[str]:
    """Land, and the bands as they look on it."""
    return [theme.land, *on_land(theme, band_colours(theme.heat, bands), theme.opacities)]


def contrast(one: str, other: str) -> float:
    """The contrast of WCAG 2."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("theme", "colours"),
    [
        (LIGHT, "#F8DE96 #FAA34B #F1623C #C33554 #891B65 #47175F"),
        (LIGHT, "#F8DE96 #FB9342 #DF4548 #982165 #47175F"),
        (LIGHT, "#F8DE96 #F77738 #B02D5E #47175F"),
        (LIGHT, "#F8DE96 #DF4548 #47175F"),
        (DARK, "#3F2C5D #8B2F7A #D23C60 #F9753B #FBBC58 #FCF5C7"),
        (DARK, "#3F2C5D #9E3279 #EC544E #FCAB4E #FCF5C7"),
        (DARK, "#3F2C5D #BC366D #FE8D3F #FCF5C7"),
        (DARK, "#3F2C5D #EC544E #FCF5C7"),
    ],
)
def test_bands_have_the_colours_that_were_chosen(theme: Theme, colours: str) -> None:
    assert " ".join(band_colours(theme.heat, len(colours.split()))) == colours


def test_few_bands_have_colours_from_both_ends_or_from_the_middle() -> None:
    assert band_colours(LIGHT.heat, 2) == ["#F8DE96", "#47175F"]
    assert band_colours(LIGHT.heat, 1) == ["#DF4548"]


def test_changes_have_the_colours_that_were_chosen() -> None:
    assert " ".join(change_colours(LIGHT.fewer, 4)) == "#87C1E5 #4791CC #265EA3 #15326A"
    assert " ".join(change_colours(LIGHT.more, 4)) == "#F0AB72 #D86C38 #A43B21 #661D1D"


def test_the_ground_has_the_colours_that_were_chosen() -> None:
    chosen = {
        "page": "#FFFFFF #14181C", "land": "#F4F2ED #22282E", "water": "#D5E1E7 #171C21", "coast": "#A9BBC5 #4A5661",
        "ink": "#1D2329 #EEF1F3", "soft": "#56606A #A8B2BA", "names": "#3C444C #C9D1D7", "rules": "#E3E7EA #2C343B",
        "badge": "#EAF1EC #1E2F27", "badge_ink": "#245C3E #9AD7B4",
    }  # fmt: skip
    assert {name: f"{getattr(LIGHT, name)} {getattr(DARK, name)}" for name in chosen} == chosen
    assert WARNING == "#B3261E"
    assert LIGHT.park == "#E4ECDD"


@pytest.mark.parametrize(
    ("between", "parts"),
    [
        (LIGHT.opacities, [0.76, 0.8, 0.84, 0.88, 0.92, 0.92]),
        (DARK.opacities, [0.75, 0.8, 0.85, 0.9, 0.95, 0.95]),
        (OVER_A_PICTURE, [0.5, 0.74, 0.74]),
        (LIGHT.change_opacities, [0.7, 0.81, 0.92, 0.92]),
        (DARK.change_opacities, [0.7, 0.92]),
        (LIGHT.opacities, [0.76]),
    ],
)
def test_the_last_two_bands_are_as_opaque(between: tuple[float, float], parts: list[float]) -> None:
    assert opacities(len(parts), between) == pytest.approx(parts)


CURVES = {
    f"{theme.name} {name}": getattr(theme, name) for theme in THEMES.values() for name in ("heat", "fewer", "more")
}
every_curve = pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)


@every_curve
def test_a_curve_is_that_of_scipy_walked_at_constant_speed(curve: Control) -> None:
    lightness, chroma, hue = np.array(curve).T
    turn = np.radians(hue)
    through = np.column_stack([lightness, chroma * np.cos(turn), chroma * np.sin(turn)])
    fine = PchipInterpolator(np.linspace(0, 1, len(curve)), through)(np.linspace(0, 1, 20_001))
    walked = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1)))
    expected = fine[np.searchsorted(walked, np.linspace(0, walked[-1], 41)).clip(0, 20_000)]
    assert curve_in_oklab(curve, 41) == pytest.approx(expected, abs=1e-4)
    steps = np.linalg.norm(np.diff(curve_in_oklab(curve, 41), axis=0), axis=1)
    assert steps == pytest.approx(np.full(40, steps.mean()), rel=0.02)


@every_curve
def test_a_screen_can_show_a_whole_curve(curve: Control) -> None:
    rgb = linear_rgb(curve_in_oklab(curve, 200))
    assert rgb.min() > -0.02
    assert rgb.max() < 1.02


@every_theme
@pytest.mark.parametrize("bands", [1, 2, 3, 4, 5, 6])
def test_more_is_farther_from_the_paper(theme: Theme, bands: int) -> None:
    """Darker on light, lighter on dark; so for shades without bands, and for changes."""
    away = 1 if theme is DARK else -1
    rows = [swatches(theme, bands)]
    rows += [
        [theme.land, *on_land(theme, change_colours(c, 4), theme.change_opacities)] for c in (theme.fewer, theme.more)
    ]
    for row in rows:
        assert all(away * (oklab(b)[0] - oklab(a)[0]) > 0.03 for a, b in pairwise(row)), row
    many = [oklab("#" + bytes(shade.tolist()).hex())[0] for shade in shades(theme.heat, 32)]
    assert (away * np.diff(many) > 0).all()


@pytest.mark.parametrize(
    ("theme", "least"), [(LIGHT, (8.0, 6.6, 7.8, 5.7)), (DARK, (7.7, 6.6, 6.4, 5.2))], ids=["light", "dark"]
)
@pytest.mark.parametrize("vision", EVERY_VISION)
def test_neighbouring_bands_are_told_apart(theme: Theme, least: tuple[float, ...], vision: str) -> None:
    nearest = min(apart(a, b, vision) for a, b in pairwise(swatches(theme)))
    assert nearest >= least[EVERY_VISION.index(vision)] - 0.05


@pytest.mark.parametrize(("vision", "least"), [*zip(EVERY_VISION, (13.5, 9.9, 11.7, 16.5), strict=True)])
def test_fewer_is_told_from_more(vision: str, least: float) -> None:
    """The distances are those at an opacity of .8; the opacities of the bands lie on either side of it."""
    for between, enough in (((0.8, 0.8), least), (LIGHT.change_opacities, 0.9 * least)):
        fewer, more = (on_land(LIGHT, change_colours(curve, 4), between) for curve in (LIGHT.fewer, LIGHT.more))
        assert min(apart(a, b, vision) for a, b in zip(fewer, more, strict=True)) >= enough - 0.05


@pytest.mark.parametrize("vision", EVERY_VISION)
def test_changes_are_told_apart_on_dark_as_well(vision: str) -> None:
    rows = [[DARK.land, *on_land(DARK, change_colours(c, 4), DARK.change_opacities)] for c in (DARK.fewer, DARK.more)]
    assert min(apart(a, b, vision) for row in rows for a, b in pairwise(row)) >= 5.0
    assert min(apart(a, b, vision) for a, b in zip(rows[0][1:], rows[1][1:], strict=True)) >= 5.0


@every_theme
def test_words_can_be_read(theme: Theme) -> None:
    """The least contrast that WCAG asks of small letters is 4.5."""
    pairs = [(ink, theme.page) for ink in (theme.ink, theme.soft)]
    pairs += [(theme.names, ground) for ground in (theme.land, theme.water, theme.page)]
    pairs += [(theme.badge_ink, theme.badge), ("#FFFFFF", WARNING)]
    assert min(contrast(*pair) for pair in pairs) >= 4.5


def test_the_contrasts_are_those_that_were_checked() -> None:
    for theme, told in ((LIGHT, (15.9, 6.4, 8.8, 7.4, 6.8)), (DARK, (15.7, 8.3, 9.6, 11.1, 8.6))):
        found = [contrast(theme.ink, theme.page), contrast(theme.soft, theme.page), contrast(theme.names, theme.land)]
        found += [contrast(theme.names, theme.water), contrast(theme.badge_ink, theme.badge)]
        assert found == pytest.approx(told, abs=0.06)
