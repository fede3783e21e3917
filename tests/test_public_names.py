"""The public names, and what importing them costs."""

from __future__ import annotations
import __future__

import importlib
import importlib.metadata
import inspect
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dpheatmap as dph
from dpheatmap import errors
from dpheatmap._util.lazy import lazy_names
from dpheatmap.testing import generated_people

HEAVY = (
    "duckdb",
    "numba",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "PIL",
    "sqlglot",
    "scipy",
    "click",
    "rich",
    "narwhals",
    "cryptography",
    "httpx",
    "starlette",
    "uvicorn",
)


def run(code: str) -> object:
    """What a fresh interpreter finds; it prints one line of JSON."""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stderr == ""
    return json.loads(out.stdout)


def test_all_is_the_public_namespace() -> None:
    """Names are loaded when they are asked for; what is there besides them are modules of ours, and tools."""
    for name in dph.__all__:
        assert getattr(dph, name) is not None
    assert set(dph.__all__) == set(dph._HOMES)
    public = {name for name, value in vars(dph).items() if not name.startswith("_") and not _is_tool(value)}
    assert public == set(dph.__all__)
    assert dph.__all__ == sorted(dph.__all__)
    assert len(set(dph.__all__)) == len(dph.__all__)


def _is_tool(value: object) -> bool:
    """Modules that are not public, and what the package is put together with."""
    if isinstance(value, types.ModuleType):
        return value.__name__ not in {"dpheatmap.planning.bounds", "dpheatmap.collect", "dpheatmap.errors",
                                      "dpheatmap.evaluate.metrics"}  # fmt: skip
    return value in (TYPE_CHECKING, lazy_names, __future__.annotations)


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(AttributeError, match="module 'dpheatmap' has no attribute 'heat'"):
        dph.heat  # noqa: B018


def test_no_module_has_the_name_of_a_public_function() -> None:
    """`import dpheatmap.release` does not give a function, and no import hides one."""
    for name in dph.__all__:
        if inspect.isfunction(getattr(dph, name)):
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module(f"dpheatmap.{name}")
            assert inspect.isfunction(getattr(dph, name))


@pytest.mark.parametrize(
    "folder", ["place", "design", "releases", "heatmap", "planning", "estimate", "curator", "collect"]
)
def test_a_folder_exports_what_is_public_of_it(folder: str) -> None:
    """By names that no module inside has: importing a module would hide what is exported by its name."""
    package = importlib.import_module(f"dpheatmap.{folder}")
    modules = {path.stem for path in Path(str(package.__file__)).parent.glob("*.py")}
    assert set(package.__all__) <= set(package._HOMES)
    assert not modules & set(package._HOMES)
    for name in package._HOMES:
        assert getattr(package, name) is not None


def test_completion_offers_the_public_names_alone() -> None:
    importlib.import_module("dpheatmap.releases.release_file")
    assert [name for name in dir(dph) if not name.startswith("_")] == dph.__all__


def test_the_old_name_of_discover_warns() -> None:
    with pytest.warns(DeprecationWarning, match="dpheatmap.discover now"), pytest.raises(errors.PrivacyRefusal):
        dph.Domain.discover(generated_people(2), epsilon=1, x="x", y="y")


def test_everything_public_has_a_docstring() -> None:
    for name in dph.__all__:
        value = getattr(dph, name)
        assert inspect.getdoc(value), name
        if inspect.isclass(value):
            for member, function in vars(value).items():
                if not member.startswith("_") and (callable(function) or isinstance(function, property | classmethod)):
                    assert inspect.getdoc(function), f"{name}.{member}"


def test_importing_takes_numpy_and_nothing_heavier() -> None:
    loaded = run(
        "import json, sys, dpheatmap; [getattr(dpheatmap, name) for name in dpheatmap.__all__];"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    assert isinstance(loaded, list)
    assert "numpy" in loaded
    assert not set(HEAVY) & set(loaded)


def test_a_plan_needs_no_engine() -> None:
    """Plans and domains are made before any data is read, so nothing that reads data is loaded."""
    loaded = run(
        "import json, sys, dpheatmap as d; d.plan(d.Domain.bbox(0, 0, 1, 1), epsilon=1, users=100);"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    assert isinstance(loaded, list)
    assert not set(HEAVY) & set(loaded)


def test_the_exception_tree_is_the_one_drawn_in_its_docstring() -> None:
    classes = {
        name: c for name, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, errors.DpheatmapError)
    }
    drawn: dict[str, tuple[str, int]] = {}
    parents: list[str] = []
    assert errors.__doc__
    for line in errors.__doc__.splitlines():
        words = line.replace("│", " ").replace("├──", "   ").replace("└──", "   ")
        first = words.split()[0] if words.split() else ""
        if first in classes:
            depth = (len(words) - len(words.lstrip()) - 4) // 4
            code = next(int(word) for word in words.split()[1:] if word.isdigit())
            parents[depth:] = [first]
            drawn[first] = (parents[depth - 1] if depth else "Exception", code)
    assert set(drawn) == set(classes)
    for name, (parent, code) in drawn.items():
        assert classes[name].__mro__[1].__name__ == parent, name
        assert classes[name].exit_code == code, name


def test_the_version_is_there() -> None:
    assert dph.__version__.split(".")[0].isdigit()
    try:
        installed = importlib.metadata.version("dpheatmap")
    except importlib.metadata.PackageNotFoundError:
        return
    assert installed == dph.__version__
