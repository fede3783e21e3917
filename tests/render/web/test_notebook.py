from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image

import dpheatmap as dph
from dpheatmap.errors import MissingDependency
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.web import map_widget
from dpheatmap.render.web.notebook import _Carrier
from dpheatmap.render.web.page import static
from dpheatmap.testing import generated_people

MakeHeat = Callable[..., Heatmap]


@pytest.mark.parametrize(
    ("runs", "carries"),
    [
        ([("a", 1), ("a", 1), ("b", 2), ("b", 3)], [True, False, False, False]),  # once, also in one cell
        ([("a", 1), ("b", 2), ("a", 3), ("b", 4)], [True, False, True, False]),  # the same cell again, when run again
        ([(None, None), (None, None)], [True, True]),  # no notebook, or one whose outputs don't see each other
    ],
)
def test_one_cell_carries_the_program(runs: list[tuple[object, object]], carries: list[bool]) -> None:
    carrier = _Carrier()
    assert [carrier.carries(*run) for run in runs] == carries


def test_outside_a_notebook_every_output_is_whole(make_heat: MakeHeat) -> None:
    for _ in range(2):
        text = make_heat(Domain.image(7, 5), seeded=True)._repr_html_()
        assert text.count('class="dpheatmap-page"') == 1
        assert "Not private: made with a seed" in text
        assert static("notebook.js") in text


def test_without_anywidget_a_widget_says_what_to_install_and_maps_are_shown(
    make_heat: MakeHeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    map_widget._kind_of_widget.cache_clear()
    people = generated_people(50)
    release = dph.release(people, Domain.unit(4), epsilon=1, user="person", x="x", y="y")
    with pytest.raises(MissingDependency, match=r"pip install 'dpheatmap\[notebook\]'"):
        release.widget()
    assert 'class="dpheatmap-map"' in release._repr_html_()


def test_where_only_pictures_show(make_heat: MakeHeat) -> None:
    image = Image.open(BytesIO(make_heat(Domain.image(7, 5))._repr_png_()))
    assert image.format == "PNG"
    assert max(image.size) > 1000
