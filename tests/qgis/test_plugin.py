"""The plugin in QGIS as Debian has it, without a window: each algorithm by qgis_process, and the guide's picture."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
import rasterio
from PIL import Image
from shapely import box

import dpheatmap as dph
from dpheatmap.testing import generated_people
from helpers import ROOT
from helpers.public_server import serve
from helpers.qgis_plugin import command_in

pytestmark = pytest.mark.long

CITY = (-74.1, 40.6, -73.8, 40.9)
EXTENT = "-74.1,-73.8,40.6,40.9 [EPSG:4326]"
Process = Callable[..., dict[str, Any]]


class FailedError(Exception):
    """What QGIS told of an algorithm that failed."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of two months, districts, the command, and the plugin as it is unpacked from its zip."""
    made = tmp_path_factory.mktemp("qgis")
    for seed, month in enumerate(("may", "june")):
        people = generated_people(1500, extent=CITY, seed=seed).project("person AS rider, x AS lon, y AS lat")
        people.write_csv(str(made / f"{month}.csv"))
    generated_people(10).write_parquet(str(made / "people.parquet"))
    halves = [box(-74.1, 40.6, -73.95, 40.9), box(-73.95, 40.6, -73.8, 40.9)]
    frame = geopandas.GeoDataFrame({"district": ["West", "East"]}, geometry=halves, crs=4326)
    frame.to_crs(3857).to_file(made / "districts.gpkg", layer="city")
    frame.to_file(made / "districts.gpkg", layer="another")
    command_in(made / "bin")
    subprocess.run([ROOT / "scripts/qgis", str(made)], check=True, capture_output=True)
    with zipfile.ZipFile(next(made.glob("*.zip"))) as packed:
        packed.extractall(made / "plugins")
    return made


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    (folder / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {
        "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(folder / "home"),
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "QGIS_PLUGINPATH": str(folder / "plugins"),
        "QGIS_CUSTOM_CONFIG_PATH": str(folder / "home"),
        "DPHEATMAP_LEDGER": str(folder / "test.ledger"),
    }


@pytest.fixture(scope="module")
def qgis(folder: Path, environment: dict[str, str]) -> Process:
    """Run an algorithm and return its results."""
    program = shutil.which("qgis_process.bin") or shutil.which("qgis_process")
    assert program is not None, "scripts/test --long installs QGIS"

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], env=environment, capture_output=True, text=True)

    enabled = start("plugins", "enable", "dpheatmap_processing")
    assert enabled.returncode == 0, enabled.stderr

    def process(algorithm: str, **parameters: object) -> dict[str, Any]:
        given = [f"{name}={value}" for name, value in parameters.items()]
        done = start("--json", "run", f"dpheatmap:{algorithm}", "--", *given)
        if done.returncode != 0:
            raise FailedError(done.stdout + done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        return found["results"]  # type: ignore[no-any-return]

    process.help = lambda name: start("help", f"dpheatmap:{name}").stdout  # type: ignore[attr-defined]
    return process


@pytest.fixture(scope="module")
def releases(qgis: Process, folder: Path) -> dict[str, str]:
    """The releases of both months, made by QGIS."""
    columns = {"USER": "rider", "X": "lon", "Y": "lat", "EXTENT": EXTENT, "RESOLUTION": 100, "EPSILON": 0.5}
    return {
        month: qgis("release", INPUT=folder / f"{month}.csv", OUTPUT=folder / f"{month}.dph.parquet", **columns)[
            "OUTPUT"
        ]
        for month in ("may", "june")
    }


def test_a_release_is_charged_and_is_a_release(releases: dict[str, str], folder: Path) -> None:
    made = dph.load(releases["may"])
    assert float(made.epsilon) == 0.5
    assert made.domain.bounds == pytest.approx(CITY, abs=0.002)
    assert float(dph.Ledger(str(folder / "test.ledger")).accounts()["may.csv"].spent) == 0.5


def test_maps_are_those_of_the_command(qgis: Process, releases: dict[str, str], folder: Path) -> None:
    found = qgis("export", INPUT=releases["may"], OUTPUT=folder / "may.png", PAGE=folder / "may.html")
    assert Path(found["PAGE"]).read_text().startswith("<!doctype html>")
    with rasterio.open(found["OUTPUT"]) as file:
        assert file.crs.to_epsg() == 3857
        assert file.count == 4
        assert file.read(4).min() == 0, "see-through where nothing can be told"
    numbers = qgis("export", INPUT=releases["may"], OUTPUT=folder / "may.tif", SIGMA=500, VALUES=1)["OUTPUT"]
    with rasterio.open(numbers) as file:
        people = np.nansum(file.read(3))
    assert people == pytest.approx(dph.load(releases["may"]).people.mean, rel=0.01)


def test_areas_are_those_of_the_command(qgis: Process, releases: dict[str, str], folder: Path) -> None:
    """The layer is in another system of coordinates, and one of two in its file."""
    layer = f"{folder / 'districts.gpkg'}|layername=city"
    found = qgis("areas", INPUT=releases["may"], AREAS=layer, NAME="district", OUTPUT=folder / "areas.gpkg")
    table = geopandas.read_file(found["OUTPUT"])
    expected = dph.load(releases["may"]).areas(str(folder / "districts.gpkg"), layer="city", name="district")
    assert table["area"].tolist() == ["West", "East"]
    assert table["people"].tolist() == pytest.approx(expected["people"].tolist())
    assert table.crs.to_epsg() == 3857


def test_a_difference_is_that_of_the_command(qgis: Process, releases: dict[str, str], folder: Path) -> None:
    found = qgis("difference", AFTER=releases["june"], BEFORE=releases["may"], OUTPUT=folder / "change.tif")
    with rasterio.open(found["OUTPUT"]) as file:
        assert file.count == 4
        assert np.nansum(file.read(4)) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(
    ("algorithm", "changes", "words"),
    [
        ("release", {"USER": "nobody"}, "There is no user column 'nobody'"),
        ("release", {"INPUT": "/nowhere.csv"}, "No file is called"),
        ("export", {"INPUT": "{folder}/people.parquet"}, "not a release"),
        ("export", {"SLICE": "8"}, "has one map and no slices"),
        ("areas", {"NAME": "fid"}, "fid"),
    ],
)
def test_errors_of_the_command_are_qgis_own(
    qgis: Process, releases: dict[str, str], folder: Path, algorithm: str, changes: dict[str, str], words: str
) -> None:
    given: dict[str, dict[str, object]] = {
        "release": {
            "INPUT": folder / "may.csv",
            "USER": "rider",
            "EXTENT": EXTENT,
            "OUTPUT": folder / "no.dph.parquet",
        },
        "export": {"INPUT": releases["may"], "OUTPUT": folder / "no.png"},
        "areas": {
            "INPUT": releases["may"],
            "AREAS": f"{folder / 'districts.gpkg'}|layername=city",
            "OUTPUT": folder / "no.gpkg",
        },
    }
    parameters = given[algorithm] | {name: value.format(folder=folder) for name, value in changes.items()}
    with pytest.raises(FailedError) as caught:
        qgis(algorithm, **parameters)
    assert words in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert not list(folder.glob("no.*"))


@pytest.mark.parametrize("name", ["release", "export", "areas", "difference"])
def test_every_algorithm_has_help(qgis: Any, name: str) -> None:
    told = qgis.help(name)
    assert "budget" in told.partition("Arguments")[0]
    assert "OUTPUT" in told


def test_the_guides_picture_is_drawn(
    qgis: Process, releases: dict[str, str], folder: Path, environment: dict[str, str]
) -> None:
    heat = qgis("export", INPUT=releases["may"], OUTPUT=folder / "p.png")["OUTPUT"]
    areas = qgis(
        "areas", INPUT=releases["may"], AREAS=f"{folder / 'districts.gpkg'}|layername=another", OUTPUT=folder / "p.gpkg"
    )
    change = qgis("difference", AFTER=releases["june"], BEFORE=releases["may"], OUTPUT=folder / "p.tif")
    script = [str(ROOT / "scripts/qgis_picture.py"), str(folder / "plugins"), heat, areas["OUTPUT"], change["OUTPUT"]]
    done = subprocess.run(
        ["/usr/bin/python3", *script, str(folder / "picture.png")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    colours = {colour for _, colour in Image.open(folder / "picture.png").convert("RGB").getcolors(10**7) or ()}
    assert (0x87, 0xC1, 0xE5) in colours, "fewer"
    assert (0xF0, 0xAB, 0x72) in colours, "more"


SHOW_TILES = """
import sys
from qgis.core import QgsApplication, QgsMapRendererSequentialJob, QgsMapSettings, QgsRasterLayer, QgsRectangle
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor
QgsApplication.setPrefixPath("/usr", True)
application = QgsApplication([], False)
application.initQgis()
layer = QgsRasterLayer("type=xyz&zmin=4&zmax=10&url=" + sys.argv[1], "Tiles", "wms")
assert layer.isValid()
settings = QgsMapSettings()
settings.setLayers([layer])
settings.setDestinationCrs(layer.crs())
settings.setExtent(QgsRectangle(*map(float, sys.argv[3:])))
settings.setOutputSize(QSize(300, 400))
settings.setBackgroundColor(QColor("white"))
job = QgsMapRendererSequentialJob(settings)
job.start()
job.waitForFinished()
assert job.renderedImage().save(sys.argv[2])
"""


def test_qgis_shows_the_tiles_of_the_server(
    releases: dict[str, str], folder: Path, environment: dict[str, str]
) -> None:
    """An XYZ layer over the place has the heat's colours, where the painted map has them."""
    heat = dph.load(releases["may"]).heatmap()
    heat.save(folder / "bare.png", bare=True)
    with rasterio.open(folder / "bare.png") as file:
        bounds, painted = file.bounds, file.read(4, out_shape=(400, 300)) > 0
    with serve(folder, ["may.dph.parquet"]) as started:
        address = f"{started.origin}/collections/may/map/tiles/WebMercatorQuad/{{z}}/{{y}}/{{x}}"
        edges = [str(edge) for edge in bounds]
        done = subprocess.run(
            ["/usr/bin/python3", "-c", SHOW_TILES, address, str(folder / "xyz.png"), *edges],
            env=environment, capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = np.asarray(Image.open(folder / "xyz.png").convert("RGB")).min(axis=2) < 250
    assert (shown == painted).mean() > 0.9
