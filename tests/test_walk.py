"""The walk of a release from row to pixel: how often a reader who follows it changes rooms.

The walk is the functions of the package in the order in which a release calls each for the first time: from a CSV file
to a picture, or to the interactive map. Comprehensions, lambdas and bodies of classes are no functions of their own. A
room is a folder at the top of the package, with all that is in it.

Two rooms are asked on the way and not walked through: `place`, which knows where cells are, and `_util`, which knows
files and parameters. They lie on the lowest floors and lead nowhere else (`test_architecture.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ASKED = ("place", "_util")
MOST = 35
WALK = """
import json, os, sys, threading
import dpheatmap as dph
from dpheatmap.testing import generated_people

root = os.path.dirname(dph.__file__) + os.sep
folder, suffix = sys.argv[1:]
generated_people(300).write_csv(f"{folder}/trips.csv")
met, order, OPTIMIZED = set(), [], 1


def watch(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root) and code not in met:
        met.add(code)
        if code.co_flags & OPTIMIZED and not code.co_name.startswith("<"):
            order.append(f"{code.co_filename[len(root):]}:{code.co_qualname}")


threading.setprofile(watch)
sys.setprofile(watch)
made = dph.release(f"{folder}/trips.csv", dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y")
made.heatmap().save(f"{folder}/map{suffix}")
sys.setprofile(None)
print(json.dumps(order))
"""


def walk(folder: Path, suffix: str) -> list[str]:
    """The functions of a release, as ``file:function``, in the order of their first calls."""
    done = subprocess.run([sys.executable, "-c", WALK, str(folder), suffix], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def rooms(functions: list[str]) -> list[str]:
    """The rooms that the walk leads through, one after the other."""
    through = [function.split("/")[0] for function in functions]
    kept = [room for room in through if room not in ASKED]
    return [kept[0], *(after for before, after in pairwise(kept) if after != before)]


@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_a_release_changes_rooms_a_few_times_on_its_way(tmp_path: Path, suffix: str) -> None:
    functions = walk(tmp_path, suffix)
    passed = rooms(functions)
    assert len(functions) > 200
    assert {"curator", "design", "releases", "estimate", "heatmap", "render"} <= set(passed)
    assert len(passed) - 1 <= MOST, passed


def test_rooms_are_counted_when_they_change() -> None:
    functions = ["curator/a.py:f", "place/b.py:g", "curator/core/c.py:h", "design/d.py:i", "curator/a.py:j"]
    assert rooms(functions) == ["curator", "design", "curator"]
