"""The map as a widget of a notebook: a box that is drawn, or an area that is clicked, comes back as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.errors import DpheatmapError
from dpheatmap.releases.estimable import Estimable
from dpheatmap.render.content.area_picture import content_of_areas
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.numbers import ends
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.content.words import ranges_hold
from dpheatmap.render.web.page import areas_data, around_heat, data_of, frame, static

_SIDE = 512  # pixels of the map's longer side
_HEIGHT = "520px"
_BOX = "The box"
_HINT = "Press ⬚ and draw a box on the map, to see how many people are in it."
_HINT_AREAS = "Click an area, or press ⬚ and draw a box, to see how many people are in it."


class Selection(NamedTuple):
    """What a reader selected on a widget, and the people in it.

    Attributes
    ----------
    name : str
        The name of an area, or "The box".
    bounds : tuple of four float, or None
        The box: x0, y0, x1 and y1 in the place's own coordinates; None for an area.
    share, low, high : float
        The part of all people in it, and its interval.
    people, people_low, people_high : float
        Their number, and its interval. Somebody with half of their events in it counts one half.
    """

    name: str
    bounds: tuple[float, float, float, float] | None
    share: float
    low: float
    high: float
    people: float
    people_low: float
    people_high: float


def map_widget(release: Estimable, areas: Any, *, confidence: float, **source: str | None) -> Any:
    """Make the widget; :meth:`Release.widget` calls this."""
    kind = _kind_of_widget()
    check(confidence=confidence)
    table = None if areas is None else release.areas(areas, confidence=confidence, **source)
    look, picture = Look(), picture_of(release.heatmap())
    around = around_heat(picture, look)
    if table is not None:
        around["areas"] = areas_data(content_of_areas(release, table, look), look)
    before, after = frame(picture.words.title)
    counter = _Counter(release, table, confidence, f"{picture.unit.subject.person}s".replace("persons", "people"))
    page = before + data_of(picture.at_most(_SIDE), around) + after
    return kind(counter, page=page, title=picture.words.title, answer=_HINT if table is None else _HINT_AREAS)


class _Counter(NamedTuple):
    """Counts people in what is selected; ``table`` has the areas, and ``people`` is what people are called."""

    release: Estimable
    table: Any
    confidence: float
    people: str

    def select(self, asked: Mapping[str, Any]) -> Selection | None:
        """The people in a box or an area; None if nothing was selected."""
        if "area" in asked and self.table is not None:
            rows = self.table[self.table["area"] == asked["area"]]
            return None if len(rows) == 0 else _selection(str(asked["area"]), None, rows)
        if "box" in asked:
            x0, y0, x1, y1 = (float(edge) for edge in asked["box"])
            rows = self.release.areas({_BOX: (x0, y0, x1, y1)}, confidence=self.confidence)
            return _selection(_BOX, (x0, y0, x1, y1), rows)
        return None

    def words(self, found: Selection) -> str:
        """What is told of a selection: its share and its people, as ranges."""
        if found.share != found.share:
            return f"{found.name} lies outside the place: nothing was counted there."
        of_thousand = " to ".join(ends(1000.0 * found.low, 1000.0 * found.high))
        number = " to ".join(ends(found.people_low, found.people_high))
        sure = ranges_hold(self.confidence)
        return f"{found.name}: {of_thousand} of every 1,000 {self.people}; {number} {self.people}. {sure}."


def _selection(name: str, bounds: tuple[float, float, float, float] | None, rows: Any) -> Selection:
    numbers = (float(rows[column].iloc[0]) for column in Selection._fields[2:])
    return Selection(name, bounds, *numbers)


@cache
def _kind_of_widget() -> Any:
    """The class of widgets, which needs a package that not everybody has."""
    anywidget = import_extra("anywidget", "notebook", "A map with a selection")
    traitlets = import_extra("traitlets", "notebook", "A map with a selection")

    class MapWidget(anywidget.AnyWidget):  # type: ignore[misc, name-defined]
        """A map on which a reader selects; ``selection`` is what they did, and ``answer`` what they are told."""

        _esm = static("widget.js")
        page = traitlets.Unicode().tag(sync=True)
        title = traitlets.Unicode().tag(sync=True)
        height = traitlets.Unicode(_HEIGHT).tag(sync=True)
        asked = traitlets.Dict().tag(sync=True)
        answer = traitlets.Unicode().tag(sync=True)
        selection = traitlets.Any(None, allow_none=True)

        def __init__(self, counter: _Counter, **traits: str) -> None:
            self._counter, self._hint = counter, traits["answer"]
            super().__init__(**traits)
            self.observe(self._count, "asked")

        def _count(self, change: Mapping[str, Any]) -> None:
            try:
                found = self._counter.select(change["new"])
                answer = self._hint if found is None else self._counter.words(found)
            except DpheatmapError as error:
                found, answer = None, str(error)
            except (TypeError, ValueError):
                found, answer = None, self._hint
            self.selection, self.answer = found, answer

    return MapWidget
