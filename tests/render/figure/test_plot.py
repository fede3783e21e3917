from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import dpheatmap as dph
from dpheatmap.errors import MissingDependency
from dpheatmap.heatmap.differences import Difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.palette import LIGHT, rgb_of
from dpheatmap.testing import generated_people
from render.conftest import bell

MakeHeat = Callable[..., Heatmap]
CAPE = Domain.bbox(-9.7, 42.7, -8.9, 43.1, depth=12)


def mesh_in(ax: object) -> QuadMesh:
    return next(child for child in ax.get_children() if isinstance(child, QuadMesh))  # type: ignore[attr-defined]


@pytest.mark.parametrize("domain", [CAPE, Domain.image(7, 5), Domain.unit(3)])
def test_the_values_are_where_they_belong(make_heat: MakeHeat, domain: Domain) -> None:
    heat = make_heat(domain)
    ax = heat.plot()
    mesh = mesh_in(ax)
    corners = np.asarray(mesh.get_coordinates())
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    assert middles[:, :, 0] == pytest.approx(np.broadcast_to(heat.x, heat.values.shape))
    assert middles[:, :, 1] == pytest.approx(np.broadcast_to(heat.y[:, None], heat.values.shape), abs=1e-4)
    shown: np.ma.MaskedArray = np.ma.asarray(mesh.get_array()).reshape(heat.values.shape)
    picture = picture_of(heat)
    assert (np.ma.getmaskarray(shown) == (picture.values < picture.edges[0])).all(), "bare below the first edge"
    steps = [np.searchsorted(picture.edges, values, side="right") for values in (shown.filled(0.0), picture.values)]
    assert (steps[0] == steps[1]).all(), "every value in its band"
    low, high = ax.get_ylim()
    assert (low < high) == (domain.kind == "bbox")  # north is up, and so is an image's first row
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


def test_axes_of_ones_own_are_drawn_into(make_heat: MakeHeat) -> None:
    figure = Figure()
    mine = figure.subplots(1, 2)
    assert make_heat(CAPE).plot(ax=mine[1]) is mine[1]
    assert not mine[0].has_data()
    assert figure.axes[-1].get_ylabel() == picture_of(make_heat(CAPE)).words.legend.short
    assert mine[1].get_title() == "Where people are"


def test_colours_and_numbers_are_those_of_pictures(make_heat: MakeHeat) -> None:
    heat = make_heat(Domain.image(7, 5))
    ax = heat.plot()
    bar = ax.figure.axes[-1]
    figure = figure_of(heat)
    assert [text.get_text() for text in bar.get_yticklabels()] == [text for _, text in figure.ticks]
    colours = mesh_in(ax).get_cmap()(np.arange(len(figure.bar)))[:, :3]
    assert np.rint(255 * colours).astype(int).tolist() == [list(rgb_of(colour)) for _, _, colour in figure.bar]
    assert to_hex(ax.get_facecolor()).upper() == LIGHT.land


def test_differences_are_drawn_about_zero(make_heat: MakeHeat) -> None:
    rng = np.random.default_rng(0)
    a, b = (make_heat(Domain.image(7, 5), rng.random((5, 7))) for _ in range(2))
    ax = Difference(a, b).plot()
    low, high = mesh_in(ax).get_clim()
    assert low == -high != 0
    assert ax.get_title() == "What changed"
    named = Difference(a, b, given_names=("by day", "at night"))
    assert named.plot().get_title() == "By day and at night: what changed"


def test_changes_that_can_not_be_told_are_bare() -> None:
    people = generated_people(400)
    releases = (
        dph.release(people, Domain.unit(6), epsilon=epsilon, user="person", x="x", y="y") for epsilon in (8, "1/2")
    )
    change = dph.difference(*releases)
    drawn: np.ma.MaskedArray = np.ma.asarray(mesh_in(change.plot()).get_array()).reshape(change.values.shape)
    painted = ~np.ma.getmaskarray(drawn)
    assert not (painted & ~change.significant()).any()


def test_a_map_without_signal_is_bare_and_says_so() -> None:
    ax = bell(Domain.unit(4), spread=5.0).plot()
    assert np.ma.getmaskarray(np.ma.asarray(mesh_in(ax).get_array())).all()
    (said,) = ax.texts
    assert said.get_text().replace("\n", " ") == "No place stands out from the noise"
    assert (said.get_position(), said.get_horizontalalignment(), said.get_color()) == ((0.5, 0.5), "center", LIGHT.ink)
    seeded = bell(Domain.unit(4), seeded=True).plot()
    assert [text.get_text() for text in seeded.texts] == ["Not private: made with a seed, for tests only"]


def test_a_file_of_a_difference_says_what_both_promised(make_heat: MakeHeat, tmp_path: Path) -> None:
    a, b = (make_heat(Domain.image(7, 5), values) for values in np.random.default_rng(0).random((2, 5, 7)))
    Difference(a, b).save(tmp_path / "change.svg")
    letters = (tmp_path / "change.svg").read_text()
    for fact in ("Before: epsilon = 1/3", "After: epsilon = 1/3", "dpheatmap."):
        assert fact in letters


def test_without_matplotlib(make_heat: MakeHeat, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match="A plot needs the package matplotlib"):
        make_heat(CAPE).plot()
