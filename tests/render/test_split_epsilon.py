"""Slices over which epsilon was split: somebody counts in each, so the chart has numbers of people, and no shares."""

from __future__ import annotations

import dpheatmap as dph
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.series_picture import picture_of_series
from dpheatmap.testing import generated_people


def title(split: str) -> str:
    table = generated_people(500).project("*, CASE WHEN person % 3 = 0 THEN 'bike' ELSE 'walk' END AS mode")
    made = dph.release(
        table, dph.Domain.unit(5), epsilon=8, user="person", x="x", y="y", group="mode", groups=["bike", "walk"],
        split=split,
    )  # fmt: skip
    return picture_of_series(made.heatmap(size=32), Look(), 4).volumes.title


def test_the_chart_tells_no_shares_of_people_who_count_in_every_slice() -> None:
    assert title("weight").startswith("Of every 1")
    assert title("epsilon").startswith("How many")
