"""The example of the first screen: invented people, called so, who go all the way."""

from __future__ import annotations

import httpx

import dpheatmap as dph
from dpheatmap.app.example import invented_table
from dpheatmap.testing import CITY
from helpers.served import Served, ended


def test_the_example_goes_all_the_way(served: Served, client: httpx.Client, population: str) -> None:
    found = client.post("/api/example").json()
    assert (found["name"], found["users"]) == ("invented people.csv", 5000)
    assert found["place"] == {"kind": "bbox", "bounds": list(CITY)}
    seen = client.post("/api/inspect", json={"upload": found["upload"]}).json()
    assert {role: names[0] for role, names in seen["guesses"].items()} == {"user": "person", "x": "lon", "y": "lat"}
    assert seen["problems"] == []
    columns = {"user": "person", "x": "lon", "y": "lat"}
    body = {"source": {"upload": found["upload"]}, "columns": columns, "place": found["place"], "epsilon": "1"}
    begun = client.post("/api/releases", json={**body, "population": population}).json()
    assert ended(client, begun["id"])["state"] == "done"
    assert client.get(f"/api/releases/{begun['id']}/map").json()["stands_out"]
    assert served.charges(population) == 1
    client.delete(f"/api/uploads/{found['upload']}")


def test_each_time_the_same_people_are_invented(served: Served, client: httpx.Client) -> None:
    """So a second try gives the stored release, and nothing is charged again."""
    assert invented_table(50) == invented_table(50)
    first, second = (client.post("/api/example").json()["upload"] for _ in range(2))
    files = [path.read_bytes() for path in (served.folder / "uploads").iterdir()]
    assert len(files) == 2
    assert files[0] == files[1]
    for upload in (first, second):
        client.delete(f"/api/uploads/{upload}")
    assert dph.Ledger(served.ledger).verify() >= 0
