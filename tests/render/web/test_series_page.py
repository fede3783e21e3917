from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.web.series_page import OF_SLICE, data_of, limit_of, page, pictures_of
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period
from dpheatmap.testing import generated_people

BOX = (7.3, 46.9, 7.5, 47.02)
BERN = Domain.bbox(*BOX, resolution=100)


def people_at_times(count: int, extent: tuple[float, float, float, float]) -> Any:
    started = "TIMESTAMP '2024-06-03 00:00:00' + INTERVAL (CAST(hash(x, y) % 604800 AS BIGINT)) SECOND AS started"
    return generated_people(count, extent=extent).project(f"*, {started}")


def series_of(domain: Domain, extent: tuple[float, float, float, float], every: str, count: int = 2000) -> Series:
    made = dph.release(
        people_at_times(count, extent), domain, epsilon=1, time="started", every=every, time_zone="Europe/Zurich",
        user="person", x="x", y="y",
    )  # fmt: skip
    return made.heatmap()


@pytest.fixture(scope="module")
def day() -> Series:
    return series_of(BERN, BOX, "hour-of-day")


@pytest.fixture(scope="module")
def written(day: Series, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("series") / "day.html"
    day.save(path)
    return path


def data_in(text: str) -> dict[str, Any]:
    found = re.search(r'id="dpheatmap-data">([^<]*)</script>', text)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_day_is_one_file_below_its_limit_that_asks_nobody(written: Path) -> None:
    assert written.stat().st_size < limit_of(24) < 3_000_000
    assert limit_of(168) < 8_000_000
    text = written.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "http" not in policy[1]
    assert not re.search(r"https?://", json.dumps(data_in(text)))


def test_all_slices_are_there_by_name_and_on_one_scale(day: Series, written: Path) -> None:
    data = data_in(written.read_text(encoding="utf-8"))
    series = data["series"]
    assert [one["name"] for one in series["slices"]] == list(day.labels)
    assert [one["label"] for one in series["slices"]][:9:4] == ["00:00", "04:00", "08:00"]
    assert series["loops"] is True
    assert series["run"] == 24
    assert not set(OF_SLICE) & set(data)
    painted = [one["edges"] for one in series["slices"] if one["nothing"] is None]
    assert painted
    assert all(edges == painted[0] for edges in painted)
    assert len(data["light"]["bands"]) == len(painted[0])
    assert data["badge"] == "Private · ε = 1 per person for all 24 maps together"
    assert data["label"][-1]["text"] == day.release.label["slices"]
    assert "Each person counts once over all slices, in parts if seen in several." in series["caption"]
    assert "Each person counts the same" not in json.dumps(data)


def test_values_are_those_of_the_maps_to_half_a_percent(day: Series, written: Path) -> None:
    data = data_in(written.read_text(encoding="utf-8"))
    slice_, picture = data["series"]["slices"][8], pictures_of(day, Look())[8]
    layer = slice_["values"]
    assert (layer["rows"], layer["columns"]) == (data["rows"], data["columns"])
    planes = np.frombuffer(zlib.decompress(base64.b64decode(layer["data"])), np.uint8)
    low, high = planes.reshape(2, layer["rows"], layer["columns"]).astype(np.uint16)
    folded = low | (high << 8)
    differences = (folded >> 1).astype(np.int16) ^ -(folded & 1).astype(np.int16)
    integers = differences.cumsum(axis=0, dtype=np.int16).cumsum(axis=1, dtype=np.int16)
    found = layer["unit"] * np.sinh(layer["step"] * integers.astype(float))
    shown = picture.at_most(max(layer["rows"], layer["columns"])).values
    np.testing.assert_allclose(found, shown, rtol=0.005, atol=1e-6 * shown.max())


def test_volumes_have_their_ranges(day: Series, written: Path) -> None:
    slices = data_in(written.read_text(encoding="utf-8"))["series"]["slices"]
    volumes = [one["volume"] for one in slices]
    low, high = day.volumes.interval(0.9)
    np.testing.assert_allclose([one["low"] for one in volumes], low, atol=0.01)
    np.testing.assert_allclose([one["high"] for one in volumes], high, atol=0.01)
    assert all(one["words"].endswith(" people") for one in volumes)


def test_many_slices_have_fewer_pixels_each(day: Series, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpheatmap.render.web.series_page._SLICE", 0)
    data = data_in(page(day, Look(basemap=False)))
    assert max(data["rows"], data["columns"]) < max(day["8"].values.shape)


@pytest.mark.parametrize(
    ("domain", "extent"), [(Domain.image(640, 480), (0, 0, 640, 480)), (Domain.unit(depth=7), (0, 0, 1, 1))]
)
def test_images_and_squares_have_pages_too(domain: Domain, extent: tuple[float, float, float, float]) -> None:
    data = data_in(page(series_of(domain, extent, "weekday", 500), Look()))
    assert [one["label"] for one in data["series"]["slices"]][:2] == ["Mon", "Tue"]
    assert data["basemap"] is None


def test_a_slice_without_signal_says_so(tmp_path: Path) -> None:
    few = series_of(BERN, BOX, "weekday", 12)
    few.save(tmp_path / "few.html")
    slices = data_in((tmp_path / "few.html").read_text(encoding="utf-8"))["series"]["slices"]
    silent = [one for one in slices if one["nothing"] is not None]
    assert silent
    assert all(one["edges"] == [] and one["busiest"] == [] for one in silent)


def test_the_data_fit_between_tags(day: Series) -> None:
    pictures = pictures_of(day, Look(title="</script><b>"))
    assert "<" not in data_of(day, pictures, {}, 64)


def test_a_notebook_shows_the_slider(day: Series) -> None:
    text = day._repr_html_()
    found = re.search(r'class="dpheatmap-map">([^<]*)</script>', text)
    assert found is not None
    assert len(found[1]) < 1_000_000
    assert [one["name"] for one in json.loads(found[1])["series"]["slices"]] == list(day.labels)


def test_options_are_checked(day: Series, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="title is no option of"):
        day.save(tmp_path / "day.csv", title="Bern by hour")
    with pytest.raises(ParameterError, match="contour"):
        day.save(tmp_path / "day.html", style="contour")
    with pytest.raises(ParameterError, match="title"):
        day.save(tmp_path / "day.html", title=5)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_look_is_asked_for_as_for_a_map(day: Series, tmp_path: Path) -> None:
    day.save(tmp_path / "day.html", title="Bern by hour", source="Counts", what=None, colours="dark", basemap=False)
    data = data_in((tmp_path / "day.html").read_text(encoding="utf-8"))
    assert (data["title"], data["colours"], data["basemap"]) == ("Bern by hour", "dark", None)
    assert "Data: Counts." in data["facts"]


def test_slices_are_called_as_people_call_them() -> None:
    hours = SliceNames(Axis(Period.of("hour-of-week", "Europe/Zurich"))).words
    assert (hours[8], hours[-1]) == ("Mon 08:00", "Sun 23:00")
    both = SliceNames(Axis(Period.of("hour-of-day", "Europe/Zurich"), ("bike", "walk"))).words
    assert (both[8], both[32]) == ("bike, 08:00", "walk, 08:00")
    assert SliceNames(Axis(None, ("8", "mon"))).words == ("8", "mon")


def test_progress_tells_each_slice_before_it_is_drawn_and_not_again(day: Series, tmp_path: Path) -> None:
    drawn: list[tuple[int, int]] = []
    series = day.release.heatmap(progress=lambda number, many: drawn.append((number, many)))
    first = series[series.labels[6]]
    assert drawn == [(7, 24)]
    assert series[series.labels[6]] is first
    series.save(tmp_path / "day.html")
    assert sorted(number for number, _ in drawn) == list(range(1, 25))
