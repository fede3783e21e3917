"""THE PRIVATE SIDE: the only code that sees people's data. It is imported through this module alone.

Each folder answers one question of a reviewer:

* ``core/``: is one release epsilon-DP? ``docs/explanation/core.md`` leads through it.
* ``ledger/``: do releases together stay within the limit?
* ``read/`` and ``engines/``: is a row its own person's, and are the integers the same everywhere?

Code outside imports only the names below, and a test enforces it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.curator.aggregation import aggregate, public_domain
    from dpheatmap.curator.bounding_box import box_around, discover, searched_world
    from dpheatmap.curator.core.counts import Counts
    from dpheatmap.curator.core.measure import in_rows
    from dpheatmap.curator.core.noise import (
        LARGEST,
        DiscreteLaplace,
        Factor,
        Source,
        discrete_laplace,
        random_words,
    )
    from dpheatmap.curator.core.publishing import Published
    from dpheatmap.curator.core.row_report import RowReport
    from dpheatmap.curator.core.walk import walk
    from dpheatmap.curator.daily_releases import DailyReleases
    from dpheatmap.curator.groups import release_images
    from dpheatmap.curator.ledger.ledger import Ledger
    from dpheatmap.curator.publish import measure, release, release_from
    from dpheatmap.curator.read.inspection import inspect_table
    from dpheatmap.curator.remarks import remark_on
    from dpheatmap.curator.rivals import Curator
    from dpheatmap.curator.sliced_counts import SlicedCounts
    from dpheatmap.curator.sliced_publish import measure_families, slices_of
    from dpheatmap.curator.statement import read_counts, sql

# For everybody: from a table to noisy values, which are paid for, or to counts, which say that they are private.
_PUBLIC = {
    "Counts": "core.counts",
    "DailyReleases": "daily_releases",
    "Ledger": "ledger.ledger",
    "RowReport": "core.row_report",
    "SlicedCounts": "sliced_counts",
    "aggregate": "aggregation",
    "discover": "bounding_box",
    "read_counts": "statement",
    "release": "publish",
    "release_images": "groups",
    "sql": "statement",
}
# For other mechanisms: noisy answers about people, each paid for.
_RIVALS = {"Curator": "rivals"}
# For the data holder: a look at their own table, and at what was read of it.
_HOLDER = {"inspect_table": "read.inspection", "remark_on": "remarks"}
# The checks of a path's budget, for whoever loads a release, and of public slices: they see no people.
_CHECKS = {"public_domain": "aggregation", "slices_of": "sliced_publish", "walk": "core.walk"}
# What was published, in the rows of a release, for servers that answer the same questions.
_ANSWERS = {"Published": "core.publishing", "in_rows": "core.measure"}
# Exact noise, for devices and servers that add their own.
_NOISE = dict.fromkeys(
    (
        "DiscreteLaplace",
        "Factor",
        "LARGEST",
        "Source",
        "discrete_laplace",
        "random_words",
    ),
    "core.noise",
)
# Seeded noise, for tests and audits; what it makes is stamped NOT PRIVATE.
_TESTS = {"box_around": "bounding_box", "release_from": "publish", "searched_world": "bounding_box"}
# The measurement alone, for attacks on invented people, who are counted once and measured many times.
_ATTACKS = {"measure": "publish", "measure_families": "sliced_publish"}

_HOMES = _PUBLIC | _RIVALS | _HOLDER | _CHECKS | _ANSWERS | _NOISE | _TESTS | _ATTACKS
__getattr__ = lazy_names(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})

__all__ = [
    "LARGEST",
    "Counts",
    "Curator",
    "DailyReleases",
    "DiscreteLaplace",
    "Factor",
    "Ledger",
    "Published",
    "RowReport",
    "SlicedCounts",
    "Source",
    "aggregate",
    "box_around",
    "discover",
    "discrete_laplace",
    "in_rows",
    "inspect_table",
    "measure",
    "measure_families",
    "public_domain",
    "random_words",
    "read_counts",
    "release",
    "release_from",
    "release_images",
    "remark_on",
    "searched_world",
    "slices_of",
    "sql",
    "walk",
]
