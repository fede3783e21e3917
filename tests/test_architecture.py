"""The building has floors: what is loaded lies below, and nothing goes round in a circle."""

from __future__ import annotations

from graphlib import TopologicalSorter

import pytest

from helpers.imported import FILES, files_of, imports, imports_at_load

FLOORS = (
    ("errors",),
    ("_util",),
    ("place",),
    ("slicing",),
    ("design", "flow"),
    ("releases",),
    ("planning",),
    ("curator",),
    ("collect", "testing"),
    ("estimate",),
    ("heatmap",),
    ("render",),
    ("evaluate",),
    ("__init__",),
    ("experiments",),
    ("app", "serve"),
    ("cli",),
    ("__main__",),
)
"""From the ground up: modules and folders of the package."""
HEIGHT = {name: height for height, names in enumerate(FLOORS) for name in names}
PRIVATE = ("curator", "collect")
PROOFS = "collect/vdaf/"
"""Proofs stand on the ground: they know fields, hashes and circuits, and nothing of collections."""


def part_of(file: str) -> str:
    """The folder or module at the top of the package that a file belongs to."""
    return file.split("/")[0].removesuffix(".py")


def test_every_part_has_its_floor() -> None:
    assert set(HEIGHT) == {part_of(file) for file in FILES}


@pytest.mark.parametrize("file", FILES)
def test_what_is_loaded_lies_on_the_same_floor_or_below(file: str) -> None:
    """Methods that lead up, such as `Release.heatmap`, import what they need when they are called."""
    loaded = {part_of(path) for entry in imports_at_load(file) for path in files_of(*entry)}
    assert {part for part in loaded if HEIGHT[part] > HEIGHT[part_of(file)]} == set()


def test_no_modules_load_each_other() -> None:
    """Sorting raises an error that names the circle, if there is one."""
    loads = {file: {path for entry in imports_at_load(file) for path in files_of(*entry)} - {file} for file in FILES}
    order = list(TopologicalSorter(loads).static_order())
    assert order.index("errors.py") < order.index("place/domain.py") < order.index("curator/publish.py")


@pytest.mark.parametrize("file", FILES)
def test_nothing_leads_up_from_the_private_side_or_to_the_top(file: str) -> None:
    """Not even inside functions: who counts people draws no maps, and the library does without its faces."""
    here = part_of(file)
    reached = {part_of(path) for entry in imports(file) for path in files_of(*entry)}
    highest = HEIGHT["testing"] if here in PRIVATE else max(HEIGHT[here], HEIGHT["__init__"])
    assert {part for part in reached if HEIGHT[part] > highest} == set()


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(PROOFS)])
def test_proofs_need_nothing_of_collections(file: str) -> None:
    reached = {path for entry in imports(file) for path in files_of(*entry)}
    assert {path for path in reached if not path.startswith((PROOFS, "_util/", "errors"))} == set()
