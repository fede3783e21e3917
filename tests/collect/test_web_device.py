"""A second client, in TypeScript, written from docs/reference/collect-wire.md: what it sends is taken, and counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap import collect
from dpheatmap._util.canonical_json import canonical_json
from dpheatmap.collect.client import NONCE, contribution_info
from dpheatmap.collect.demo import Stage
from dpheatmap.collect.keys import PrivateKey, from_text
from dpheatmap.collect.local import LocalTerms, Report
from dpheatmap.collect.tickets import SIZE
from dpheatmap.collect.trusted_parties import countersign
from helpers import ROOT
from helpers.collecting import Cast, cast, numbers_of

SOURCE = ROOT / "tests/collect/web_device.ts"
TOOLS = ROOT / "web/node_modules"
pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not TOOLS.exists(), reason="scripts/web installs what TypeScript needs"
)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client, with its types checked."""
    folder = tmp_path_factory.mktemp("device")
    settings = "--noEmit --strict --target ES2022 --module ESNext --moduleResolution bundler --skipLibCheck"
    types = ["--lib", "ES2022,DOM,DOM.Iterable", "--types", "node", "--typeRoots", str(TOOLS / "@types")]
    run_node([str(TOOLS / "typescript/bin/tsc"), *settings.split(), *types, str(SOURCE)])
    built = folder / "device.mjs"
    words = ["--format=esm", "--platform=node", f"--outfile={built}", "--log-level=error"]
    run_node([str(TOOLS / "esbuild/bin/esbuild"), str(SOURCE), *words])
    return built


def run_node(words: list[str], given: object = None, **more: str) -> str:
    settings = {**os.environ, "NODE_NO_WARNINGS": "1", **more}
    done = subprocess.run(["node", *words], input=json.dumps(given), capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def asked(
    stage: Cast | Stage, path: Path, count: int, points: list[tuple[float, float]], **more: Any
) -> dict[str, Any]:
    stage.collection.save(path)
    parties = [party.key.text for party in stage.collection.parties]
    return {
        "collection": path.read_text(), "operator": stage.operator.public.text, "parties": parties,
        "tickets": stage.tickets[:count], "points": points, **more,
    }  # fmt: skip


def bodies_of(device: Path, request: dict[str, Any]) -> list[list[bytes]]:
    return [[from_text(body) for body in bodies] for bodies in json.loads(run_node([str(device)], request))]


def content_of(stage: Cast, number: int, body: bytes) -> bytes:
    ticket, nonce, sealed = body[:SIZE], body[SIZE : SIZE + NONCE], body[SIZE + NONCE :]
    return stage.keys[number].opener(contribution_info(stage.collection, ticket, nonce))(sealed)


CITY = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=2000)
PLACES = {
    "unit": (dph.Domain.unit(3), (0.7, 0.2)),
    "image": (dph.Domain.image(40, 30, depth=4), (33.3, 4.0)),
    "city": (CITY, (7.41, 46.97)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("epsilon", ["16", "1/3"])
def test_reports_are_taken_and_tell_the_cell(device: Path, tmp_path: Path, place: str, epsilon: str) -> None:
    """At epsilon 16 a direct answer is the truth up to a probability of 1e-5, so of 12 nearly all are."""
    domain, point = PLACES[place]
    terms = LocalTerms.of(domain, epsilon=Fraction(epsilon), n_min=3, n_max=100, depth=domain.depth)
    stage = Cast(tmp_path, terms)
    for (body,) in bodies_of(device, asked(stage, tmp_path / "c.json", 12, [point])):
        stage.role(0).accept(body)
    assert stage.role(0).state.count_contributions() == 12
    if epsilon == "16":
        codes, _ = terms.tree.leaves([point[0]], [point[1]])
        reports = [
            Report.from_padded_bytes(c, terms) for (c,) in stage.role(0).state.rows("SELECT content FROM contributions")
        ]
        right = [
            terms.responses[level].unpack(answer) == terms.values(level, codes)[0]
            for level, answer in reports
            if terms.responses[level].name == "direct"
        ]
        assert len(right) >= 6
        assert sum(right) >= len(right) - 1


def test_it_sends_over_https(device: Path, tmp_path: Path) -> None:
    with Stage(tmp_path, cast(tmp_path, "local").collection.terms, tickets=4) as stage:
        request = asked(stage, tmp_path / "c.json", 4, [(0.1, 0.1)], send=True)
        said = run_node([str(device)], request, NODE_EXTRA_CA_CERTS=str(tmp_path / "authority.pem"))
        assert said.split() == ["[200]"] * 4
        again = run_node([str(device)], request, NODE_EXTRA_CA_CERTS=str(tmp_path / "authority.pem"))
        assert again.split() == ["[409]"] * 4, "other reports of the same tickets"
        stage.close()
        assert stage.result().trust.participants == 4


def test_shares_add_up(device: Path, tmp_path: Path) -> None:
    """Three of four points in one cell, one in another, none for a point outside."""
    stage = cast(tmp_path, "servers", depth=3, units=8, servers=3, epsilon=1)
    points = [(0.1, 0.1)] * 3 + [(0.9, 0.9), (7.0, 0.5)]
    ((one, two, three),) = bodies_of(device, asked(stage, tmp_path / "c.json", 1, points))
    contents = [content_of(stage, number, body) for number, body in enumerate((one, two, three))]
    assert [len(content) for content in contents] == [8 * 64, 32, 32]
    shares = [numbers_of(content, 64) for content in contents]
    total = sum(shares, np.zeros(64, np.uint64)).astype(np.int64)
    assert total[[0, 63]].tolist() == [6, 2]
    assert total.sum() == 8
    ((nothing, *seeds),) = bodies_of(device, asked(stage, tmp_path / "c.json", 1, []))
    shares = [numbers_of(content_of(stage, number, body), 64) for number, body in enumerate((nothing, *seeds))]
    assert not np.sum(shares, axis=0, dtype=np.uint64).any()


@pytest.mark.skipif(not hasattr(collect, "ServerTerms"), reason="servers of this version take whole vectors")
def test_servers_take_the_shares(device: Path, tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers", depth=3)
    for bodies in bodies_of(device, asked(stage, tmp_path / "c.json", 4, [(0.1, 0.1)])):
        for number, body in enumerate(bodies):
            stage.role(number).accept(body)
    stage.end()
    assert stage.result().trust.participants == 4


def test_it_trusts_whom_the_other_client_trusts(device: Path, tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers", depth=2)
    good = asked(stage, tmp_path / "c.json", 1, [])
    assert len(bodies_of(device, good)) == 1
    mine, other = PrivateKey.make(), PrivateKey.make()
    altered = json.loads(good["collection"])
    altered["epsilon"] = "50"
    signed = countersign(stage.collection, mine, "server 1")
    signed.save(tmp_path / "signed.json")
    by_me = {"collection": (tmp_path / "signed.json").read_text()}
    wrongs: list[dict[str, Any]] = [
        {"parties": []},
        {"parties": good["parties"][:1]},
        {"parties": [good["parties"][0], other.public.text]},
        {"operator": other.public.text},
        {"collection": json.dumps(altered)},
        {**by_me, "parties": [mine.public.text]},
        {"parties": [mine.public.text, good["parties"][1]]},
    ]
    for wrong in wrongs:
        with pytest.raises(AssertionError, match=r"Error: (a party is not known|not signed|not a collection)"):
            bodies_of(device, {**good, **wrong})
    assert len(bodies_of(device, {**good, **by_me, "parties": [mine.public.text, good["parties"][1]]})) == 1


def test_both_write_the_same_canonical_text(device: Path) -> None:
    values = [
        {
            "b": 1.5,
            "a": [1e21, -0.0, 1e-7, 123456789012345.6, 2**53 - 1],
            "€": 'é\n\u2028\x7f"\\/',
            "\ufb33": 0,
            "😀": 0,
        },
        {"numbers": np.random.default_rng(1).normal(size=200).tolist()},
        {"scales": [3.7 * 10.0**k for k in range(-30, 30)]},
    ]
    found = json.loads(run_node([str(device)], {"canonical": values}))
    assert found == [canonical_json(value).decode() for value in values]
