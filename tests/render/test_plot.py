from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from dpheatmap.difference import Difference
from dpheatmap.domain import Domain
from dpheatmap.errors import MissingDependency
from dpheatmap.heatmap import Heatmap

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
    shown = np.asarray(mesh.get_array())
    assert shown / shown.sum() == pytest.approx(heat.density / heat.density.sum())
    low, high = ax.get_ylim()
    assert (low < high) == (domain.kind == "bbox")  # north is up, and so is an image's first row
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


def test_axes_of_ones_own_are_drawn_into(make_heat: MakeHeat) -> None:
    figure = Figure()
    mine = figure.subplots(1, 2)
    assert make_heat(CAPE).plot(ax=mine[1]) is mine[1]
    assert not mine[0].has_data()
    label = figure.axes[-1].get_ylabel()
    assert label.startswith("% of people per ")
    assert label.endswith(", linear scale")


def test_differences_are_drawn_about_zero(make_heat: MakeHeat) -> None:
    rng = np.random.default_rng(0)
    a, b = (make_heat(Domain.image(7, 5), rng.random((5, 7))) for _ in range(2))
    ax = Difference(a, b).plot()
    low, high = mesh_in(ax).get_clim()
    assert low == -high != 0
    assert ax.get_title() == "What changed: B minus A"


def test_without_matplotlib(make_heat: MakeHeat, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match="A plot needs the package matplotlib"):
        make_heat(CAPE).plot()
