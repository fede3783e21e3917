"""The wall: who may import the private side, read off the source code."""

from __future__ import annotations

import re

import pytest

from dpheatmap import collect, curator
from helpers.imported import FILES, ROOT, files_of, imports

PRIVATE = ("curator", "collect")
EXPORTED = {"curator/counts_file.py"}
"""What counts are saved by, which is no part of the core."""
DOORS = ("dpheatmap.curator", "dpheatmap.collect")
PUBLIC = {
    *(("dpheatmap.curator", name) for name in curator._PUBLIC | curator._RIVALS),
    *(("dpheatmap.collect", name) for name in collect._PUBLIC),
    ("dpheatmap", "collect"),
}
"""What whoever may enter asks for: noisy answers that are paid for, counts that say that they are private, devices."""
EXCEPTIONS = {
    # Seeded noise for tests and demos; what it makes is stamped NOT PRIVATE.
    "testing.py": {("dpheatmap.curator", "release_from")},
    # The check of a path's budget, which sees no people.
    "releases/release_file.py": {("dpheatmap.curator", "walk")},
    # Simulations of collections without a curator, whose releases are stamped NOT PRIVATE.
    "experiments/shuffle.py": {
        ("dpheatmap.collect", "simulate_together"),
        ("dpheatmap.collect", "paper_shares"),
        ("dpheatmap.curator", "walk"),
    },
    "experiments/local_model.py": {("dpheatmap.collect", "simulate_locally")},
    # The audit, which searches a box around invented people many times and reads their file but a few times.
    "evaluate/audit/discovery_shapes.py": {
        ("dpheatmap.curator", "box_around"),
        ("dpheatmap.curator", "searched_world"),
    },
    # The attack, which counts invented people once, and measures them many times.
    "evaluate/audit/membership.py": {
        ("dpheatmap.curator", "measure"),
        ("dpheatmap.curator", "measure_families"),
    },
    # The data holder's look at their own table.
    "cli/inspect_command.py": {("dpheatmap.curator", "inspect_table")},
    "app/endpoints/tables.py": {("dpheatmap.curator", "inspect_table")},
    "cli/terminal.py": {("dpheatmap.curator", "remark_on")},
    # The check of public slices by a request and the types of columns, which sees no people.
    "app/slice_request.py": {("dpheatmap.curator", "slices_of")},
    # The processes of a collection, started by hand.
    **{
        f"cli/{file}.py": {("dpheatmap.collect", name) for name in collect._PROCESSES}
        for file in ("collect_command", "collect_devices", "collect_options", "collect_processes")
    },
}
RINGS = {
    "curator/core/": ("curator/core/",),
    "curator/ledger/": ("curator/core/", "curator/ledger/"),
}
"""What a ring of the private side may import of it: the core is read without anything else."""
MAY_ENTER = ("__init__.py", "testing.py", "app/", "cli/", "evaluate/", "experiments/")
EXACT = re.compile(r"\bcounts\.(sums|codes|at)\b")
OUTSIDE = [file for file in FILES if file.split("/")[0] not in PRIVATE]


def private(module: str, name: str | None) -> bool:
    full = f"{module}.{name}" if name else module
    return any(f"{full}.".startswith(f"dpheatmap.{folder}.") for folder in PRIVATE)


def test_the_private_side_is_where_it_is_looked_for() -> None:
    """A test of walls must see the house: the files and the doors exist."""
    assert {
        "__init__.py",
        "releases/release.py",
        "heatmap/heatmap.py",
        "curator/publish.py",
        "estimate/paper_estimate.py",
    } <= set(FILES)
    assert {("dpheatmap.curator", name) for name in ("Counts", "aggregate", "release")} <= set(imports("__init__.py"))
    assert any(private(*entry) for entry in imports("curator/publish.py"))


def test_every_name_of_a_door_is_there() -> None:
    for door in (curator, collect):
        for name in door._HOMES:
            assert getattr(door, name) is not None
    assert set(curator.__all__) == set(curator._HOMES)
    with pytest.raises(AttributeError, match="has no attribute 'count'"):
        curator.count  # noqa: B018


@pytest.mark.parametrize("ring", RINGS)
def test_a_ring_is_read_without_those_around_it(ring: str) -> None:
    inside = [file for file in FILES if file.startswith(ring)]
    assert len(inside) > 3
    for file in inside:
        reached = {path for entry in imports(file) for path in files_of(*entry) if path.startswith(PRIVATE)}
        reached -= {"curator/__init__.py", *(EXPORTED if file == "curator/core/counts.py" else ())}
        assert {path for path in reached if not path.startswith(RINGS[ring])} == set(), file


def test_the_core_is_read_in_an_hour() -> None:
    lines = sum(len((ROOT / file).read_text().splitlines()) for file in FILES if file.startswith("curator/core/"))
    assert lines <= 1500


@pytest.mark.parametrize("file", OUTSIDE)
def test_the_private_side_is_entered_by_its_doors_only(file: str) -> None:
    entered = {entry for entry in imports(file) if private(*entry)}
    assert entered <= (PUBLIC if file.startswith(MAY_ENTER) else set()) | EXCEPTIONS.get(file, set())


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith("collect/")])
def test_devices_and_servers_take_their_noise_from_the_door(file: str) -> None:
    entered = {entry for entry in imports(file) if f"{entry[0]}.".startswith("dpheatmap.curator.")}
    fitting = {*curator._NOISE, *curator._CHECKS, *curator._ANSWERS, "Counts"}
    assert entered <= {("dpheatmap.curator", name) for name in fitting}


@pytest.mark.parametrize("file", [f for f in FILES if f.startswith(("estimate/", "render/", "heatmap/", "serve/"))])
def test_estimates_pictures_and_the_public_server_cannot_reach_events(file: str) -> None:
    """Not even through another module of ours: whatever they import, and what that imports, stays outside.

    Every domain has a door, the old name of `discover`: they don't knock at it, nor could they, having no table.
    """
    assert ".discover(" not in (ROOT / file).read_text(encoding="utf-8")
    seen, queue = set(), [file]
    while queue:
        here = queue.pop()
        seen.add(here)
        assert not here.startswith(PRIVATE), f"{file} reaches {here}"
        for module, name in imports(here) - EXCEPTIONS.get(here, set()):
            queue += [path for path in files_of(module, name) if path not in seen]


def test_only_the_private_side_reads_tables() -> None:
    """DuckDB outside the wall reads release files and public research data, and makes invented people; nothing else."""
    users = {file for file in OUTSIDE for module, _ in imports(file) if module.split(".")[0] in ("duckdb", "narwhals")}
    assert {file for file in users if not file.startswith("experiments/")} <= {
        "_util/duckdb_connection.py",
        "releases/release_file.py",
        "testing.py",
    }


def test_exact_counts_are_read_by_the_judge_only() -> None:
    """Outside the wall, the one who judges by the truth looks into Counts; rivals and baselines get noisy answers."""
    looking = {file for file in OUTSIDE if EXACT.search((ROOT / file).read_text(encoding="utf-8"))}
    assert looking == {"evaluate/ground_truth.py"}


def test_peers_see_people_through_a_curator_only() -> None:
    peers = [file for file in FILES if file.startswith("evaluate/peers/")]
    assert len(peers) > 5
    for file in peers:
        assert {entry for entry in imports(file) if private(*entry)} <= {("dpheatmap.curator", "Curator")}
        assert "_counts" not in (ROOT / file).read_text(encoding="utf-8"), file


def test_noise_and_randomness_live_behind_the_wall() -> None:
    """Outside are seeded generators only: of experiments, and of draws from a posterior, seeded by the release."""
    for file in OUTSIDE:
        used = {module for module, _ in imports(file)}
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "random" not in used, file
        assert "urandom" not in text, file
        seeded = (
            "testing.py",
            "cli/demo_command.py",
            "heatmap/drawn_maps.py",
            "estimate/place_uncertainty.py",
            "estimate/synthetic_points.py",
            "estimate/areas/area_estimate.py",
            "estimate/slices/slice_estimate.py",
        )
        if file not in seeded and not file.startswith("experiments/"):
            assert "np.random" not in text, file


COLLECT = [file for file in FILES if file.startswith("collect/")]
POINTS = re.compile(r"\.leaves\(|\.contribution\(|\bvector_of\(|\baggregate\(")


def test_in_a_collection_only_devices_see_points() -> None:
    """Who receives, mixes, sums and publishes has no use for the code that turns people's points into numbers."""
    seeing = {file for file in COLLECT if POINTS.search((ROOT / file).read_text(encoding="utf-8"))}
    assert seeing == {
        f"collect/{module}.py" for module in ("client", "contribution", "demo", "local", "simulate", "tree")
    }
    for role in (
        "receiver",
        "server",
        "collector",
        "shuffler",
        "analyser",
        "collection_result",
        "tally",
        "web_process",
        "process_state",
    ):
        modules = {module for module, _ in imports(f"collect/{role}.py")}
        assert not {f"dpheatmap.collect.{module}" for module in ("tree", "simulate", "demo")} & modules, role
        assert not {module for module in modules if module.startswith("dpheatmap.curator.")}


def test_the_shuffler_opens_what_devices_send_and_no_message() -> None:
    opening = {file for file in COLLECT if ".opener(" in (ROOT / file).read_text(encoding="utf-8")}
    assert opening == {"collect/receiver.py", "collect/analyser.py"}
    for file in ("collect/receiver.py", "collect/shuffler.py"):
        assert 'purpose("message")' not in (ROOT / file).read_text(encoding="utf-8"), file


def test_devices_and_servers_draw_from_the_operating_system() -> None:
    """No generator with a state, and a seed only where a source is handed in; but for simulated local reports."""
    for file in (file for file in COLLECT if file not in ("collect/simulate.py", "collect/randomised_response.py")):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "np.random" not in text, file
        assert "random" not in {module for module, _ in imports(file)}, file
