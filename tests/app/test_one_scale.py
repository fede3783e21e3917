"""Two maps on one scale: equal colours are equal densities."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.app.pictures import on_one_scale
from dpheatmap.render.web.picture import picture_of
from dpheatmap.testing import generated_people
from helpers.served import ended, trips, wanted


def heat_of(people: int, domain: dph.Domain) -> dph.Heatmap:
    table = generated_people(people, extent=domain.extent)
    return dph.release(table, domain, epsilon=1, user="person", x="x", y="y").heatmap(size=64)


def test_maps_get_one_unit_and_one_top() -> None:
    city, country = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02), dph.Domain.bbox(6.0, 45.8, 10.5, 47.8)
    heats = [heat_of(2000, city), heat_of(2000, country)]
    alone = [picture_of(heat) for heat in heats]
    assert alone[0].unit != alone[1].unit
    both = on_one_scale(heats)
    assert both[0].unit == both[1].unit == alone[0].unit
    assert both[0].top == both[1].top == pytest.approx(alone[0].top)
    for heat, picture in zip(heats, both, strict=True):
        ratio = picture.values / heat.density
        assert ratio == pytest.approx(both[0].top / heats[0].density.max())
    assert both[1].std is not None
    assert alone[1].std is not None
    assert both[1].std / both[1].values == pytest.approx(alone[1].std / alone[1].values)


def test_places_of_different_kinds_keep_their_scales() -> None:
    heats = [heat_of(500, dph.Domain.bbox(7.3, 46.9, 7.5, 47.02)), heat_of(500, dph.Domain.image(64, 48))]
    assert [p.unit for p in on_one_scale(heats)] == [picture_of(heat).unit for heat in heats]


def test_both_maps_come_in_one_answer(client: httpx.Client, population: str, tmp_path: Path) -> None:
    ids = []
    for name, people in (("few.csv", 150), ("many.csv", 1500)):
        body = wanted({"path": str(trips(tmp_path / name, people))}, population, epsilon="0.5")
        ids.append(ended(client, client.post("/api/releases", json=body).json()["id"])["id"])
    first, second = client.get(f"/api/releases/{ids[0]}/beside/{ids[1]}").json()
    assert first["top"] == second["top"]
    assert first["unit"] == second["unit"]
    assert first["values"] != second["values"]
    assert client.get(f"/api/releases/{ids[0]}/beside/nothing").status_code == 400
