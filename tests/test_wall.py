"""The wall: who may import the private side, read off the source code."""

from __future__ import annotations

import re

import pytest

from imported import FILES, ROOT, files_of, imports

PRIVATE = ("curator", "collect")
COLLECTING = {
    "client": ["Client", "body_size"],
    "collection": ["Collection"],
    "terms": ["Terms"],
    "simulate": ["simulated"],
}
DOORS = {
    ("dpheatmap.curator.api", "aggregate"),
    ("dpheatmap.curator.api", "release"),
    ("dpheatmap.curator.api", "Counts"),
    # A statement for a warehouse, which holds nothing of the data, and the counts that it answers.
    ("dpheatmap.curator.warehouses", "sql"),
    ("dpheatmap.curator.warehouses", "read_counts"),
    ("dpheatmap.curator.images", "release_images"),
    ("dpheatmap.curator.ledger", "Ledger"),
    # Devices, and whoever runs a collection: public terms in, sealed contributions and noisy sums out.
    ("dpheatmap", "collect"),
    *((f"dpheatmap.collect.{module}", name) for module, names in COLLECTING.items() for name in names),
    # Other mechanisms' way to people: noisy answers, each paid for.
    ("dpheatmap.curator.api", "Curator"),
}
EXCEPTIONS = {
    # Seeded noise for tests and demos; what it makes is stamped NOT PRIVATE.
    "testing.py": {("dpheatmap.curator.api", "release_from")},
    # Simulations of collections without a curator, whose releases are stamped NOT PRIVATE.
    "experiments/shuffle.py": {
        ("dpheatmap.collect.simulate", "simulated_together"),
        ("dpheatmap.collect.shuffle_bound", "paper_shares"),
        ("dpheatmap.collect.terms", "Terms"),
    },
    "experiments/local.py": {
        ("dpheatmap.collect.local", "LocalTerms"),
        ("dpheatmap.collect.simulate", "simulated_locally"),
    },
    # Domain.discover, which is handed a table and answers with noise that is paid for; the others are types.
    "domain.py": {
        ("dpheatmap.curator.discover", "discover"),
        ("dpheatmap.curator.api", "Counts"),
        ("dpheatmap.curator.ledger", "Ledger"),
    },
    # The audit, which searches a box around invented people many times and reads their file but a few times.
    "evaluate/audit_discovery.py": {("dpheatmap.curator.discover", "discovered")},
    # The data holder's look at their own table.
    "cli/inspect.py": {("dpheatmap.curator.inspect", "inspect_table")},
    "app/answers/tables.py": {("dpheatmap.curator.inspect", "inspect_table")},
    # The processes of a collection, started by hand.
    "cli/collect.py": {
        (f"dpheatmap.collect.{module}", name)
        for module, name in [
            ("collection", "terms_of"),
            ("demo", "run_demo"),
            ("keys", "PrivateKey"),
            ("keys", "PublicKey"),
            ("network", "Network"),
            ("receiver", "Role"),
            ("receiver", "close_early"),
            ("result", "collected"),
            ("result", "combined"),
            ("state", "State"),
            ("tickets", "make_tickets"),
            ("web", "kind_of"),
            ("web", "serve"),
        ]
    },
}
MAY_ENTER = ("__init__.py", "testing.py", "app/", "cli/", "evaluate/", "experiments/")
EXACT = re.compile(r"\bcounts\.(sums|codes|at)\b")
OUTSIDE = [file for file in FILES if file.split("/")[0] not in PRIVATE]


def private(module: str, name: str | None) -> bool:
    full = f"{module}.{name}" if name else module
    return any(f"{full}.".startswith(f"dpheatmap.{folder}.") for folder in PRIVATE)


def test_the_private_side_is_where_it_is_looked_for() -> None:
    """A test of walls must see the house: the files and the doors exist."""
    assert {"__init__.py", "release.py", "heatmap.py", "curator/api.py", "estimate/paper.py"} <= set(FILES)
    assert {("dpheatmap.curator.api", name) for name in ("Counts", "aggregate", "release")} <= set(
        imports("__init__.py")
    )
    assert any(private(*entry) for entry in imports("curator/api.py"))


@pytest.mark.parametrize("file", OUTSIDE)
def test_the_private_side_is_entered_by_its_doors_only(file: str) -> None:
    entered = {entry for entry in imports(file) if private(*entry)}
    assert entered <= (DOORS if file.startswith(MAY_ENTER) else set()) | EXCEPTIONS.get(file, set())


@pytest.mark.parametrize("file", [f for f in FILES if f.startswith(("estimate/", "render/", "heatmap", "smoothing"))])
def test_estimates_and_pictures_cannot_reach_events(file: str) -> None:
    """Not even through another module of ours: whatever they import, and what that imports, stays outside.

    Every domain has a door, `Domain.discover`: they don't knock at it, nor could they, having no table to hand in.
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
        "embedded.py",
        "release_file.py",
        "testing.py",
    }


def test_exact_counts_are_read_by_the_judge_only() -> None:
    """Outside the wall, the one who judges by the truth looks into Counts; rivals and baselines get noisy answers."""
    looking = {file for file in OUTSIDE if EXACT.search((ROOT / file).read_text(encoding="utf-8"))}
    assert looking == {"evaluate/truth.py"}


def test_peers_see_people_through_a_curator_only() -> None:
    peers = [file for file in FILES if file.startswith("evaluate/peers/")]
    assert len(peers) > 5
    for file in peers:
        assert {entry for entry in imports(file) if private(*entry)} <= {("dpheatmap.curator.api", "Curator")}
        assert "_counts" not in (ROOT / file).read_text(encoding="utf-8"), file


def test_noise_and_randomness_live_behind_the_wall() -> None:
    """Outside are seeded generators only: of experiments, and of draws from a posterior, seeded by the release."""
    for file in OUTSIDE:
        used = {module for module, _ in imports(file)}
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "random" not in used, file
        assert "urandom" not in text, file
        seeded = ("testing.py", "cli/demo.py", "estimate/uncertainty.py", "estimate/place_draws.py")
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
    for role in ("receiver", "server", "collector", "shuffler", "analyser", "result", "tally", "web", "state"):
        modules = {module for module, _ in imports(f"collect/{role}.py")}
        assert not {f"dpheatmap.collect.{module}" for module in ("tree", "simulate", "demo")} & modules, role
        assert not {module for module in modules if module.startswith("dpheatmap.curator") and "noise" not in module}


def test_the_shuffler_opens_what_devices_send_and_no_message() -> None:
    opening = {file for file in COLLECT if ".opener(" in (ROOT / file).read_text(encoding="utf-8")}
    assert opening == {"collect/receiver.py", "collect/analyser.py"}
    for file in ("collect/receiver.py", "collect/shuffler.py"):
        assert 'purpose("message")' not in (ROOT / file).read_text(encoding="utf-8"), file


def test_devices_and_servers_draw_from_the_operating_system() -> None:
    """No generator with a state, and a seed only where a source is handed in; but for simulated local reports."""
    for file in (file for file in COLLECT if file not in ("collect/simulate.py", "collect/responses.py")):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "np.random" not in text, file
        assert "random" not in {module for module, _ in imports(file)}, file
