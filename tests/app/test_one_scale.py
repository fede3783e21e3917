"""Two maps on one scale: equal colours are equal densities."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import on_one_scale, picture_of
from dpheatmap.testing import generated_people
from helpers.served import ended, trips, wanted


def heat_of(people: int, domain: dph.Domain) -> dph.Heatmap:
    table = generated_people(people, extent=domain.extent)
    return dph.release(table, domain, epsilon=1, user="person", x="x", y="y").heatmap(size=64)


def test_maps_get_one_unit_and_one_set_of_bands() -> None:
    city, country = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02), dph.Domain.bbox(6.0, 45.8, 10.5, 47.8)
    heats = [heat_of(2000, city), heat_of(2000, country)]
    alone = [picture_of(heat) for heat in heats]
    assert alone[0].unit != alone[1].unit
    both = on_one_scale(heats, [Look(), Look()])
    assert both[0].unit == both[1].unit
    assert both[0].edges == both[1].edges
    widest = [edge / alone[0].unit.factor for edge in alone[0].edges]
    assert [edge / both[0].unit.factor for edge in both[0].edges] == pytest.approx(widest), "those of the denser one"
    for heat, picture in zip(heats, both, strict=True):
        assert picture.values == pytest.approx(heat.density * both[0].unit.factor)


@pytest.mark.parametrize("domain", [dph.Domain.image(64, 48), dph.Domain.unit(6)])
def test_every_kind_of_place_has_one_scale(domain: dph.Domain) -> None:
    both = on_one_scale([heat_of(100, domain), heat_of(2000, domain)], [Look(), Look()])
    assert both[0].unit == both[1].unit
    assert both[0].edges == both[1].edges


def test_places_of_different_kinds_keep_their_scales() -> None:
    heats = [heat_of(500, dph.Domain.bbox(7.3, 46.9, 7.5, 47.02)), heat_of(500, dph.Domain.image(64, 48))]
    assert [p.edges for p in on_one_scale(heats, [Look(), Look()])] == [picture_of(heat).edges for heat in heats]


def test_both_maps_come_in_one_answer(client: httpx.Client, population: str, tmp_path: Path) -> None:
    ids = []
    for name, people in (("few.csv", 800), ("many.csv", 2500)):
        body = wanted({"path": str(trips(tmp_path / name, people))}, population)
        ids.append(ended(client, client.post("/api/releases", json=body).json()["id"])["id"])
    first, second = client.get(f"/api/releases/{ids[0]}/beside/{ids[1]}").json()
    assert first["edges"] == second["edges"]
    assert first["top"] == second["top"] == first["edges"][-1]
    assert first["legend"]["title"] == second["legend"]["title"]
    assert first["values"] != second["values"]
    assert client.get(f"/api/releases/{ids[0]}/beside/nothing").status_code == 400
