"""Keys, tickets and signed collections: what was altered, forged or meant for something else counts for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap._util.canonical_json import canonical_json
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.keys import OVERHEAD, BadSeal, PrivateKey, PublicKey, as_text
from dpheatmap.collect.tickets import make_tickets, serial_of, ticket_bytes
from dpheatmap.errors import DataError, ParameterError
from helpers.collecting import client_of, local_terms, terms_of

LATER = datetime.now(UTC) + timedelta(hours=1)
KEY = PrivateKey.make().public
ONE, TWO = "https://127.0.0.1:8000", "https://127.0.0.1:8001"


@pytest.fixture(scope="module")
def operator() -> PrivateKey:
    return PrivateKey.make()


def opened(operator: PrivateKey, model: str = "servers", **options: Any) -> Collection:
    terms = local_terms(**options) if model == "local" else terms_of(model, **options)
    parties = {address: PrivateKey.make().public for address, _ in zip((ONE, TWO), terms.roles, strict=False)}
    return Collection.open(terms, parties, LATER, operator)


@pytest.mark.parametrize("model", ["servers", "shuffle", "local"])
def test_what_was_saved_is_read_back(operator: PrivateKey, model: str, tmp_path: Path) -> None:
    options: dict[str, dict[str, Any]] = {
        "servers": {"depth": 2}, "shuffle": {"width": 5, "decay": 0.6}, "local": {"width": 5}
    }  # fmt: skip
    before = opened(operator, model, **options[model])
    before.save(tmp_path / "c.json")
    after = Collection.read(tmp_path / "c.json", operator.public.text)
    assert after == before
    assert after.digest == before.digest
    assert after.terms.to_dict() == before.terms.to_dict()


def test_it_is_read_only_with_the_operators_key(operator: PrivateKey, tmp_path: Path) -> None:
    opened(operator).save(tmp_path / "c.json")
    with pytest.raises(DataError, match=r"c\.json is not a collection that the operator of this key has signed"):
        Collection.read(tmp_path / "c.json", PrivateKey.make().public)


LIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "less noise": lambda c: c.update(epsilon="50"),
    "fewer people": lambda c: c.update(n_min=2),
    "fewer shares": lambda c: c.update(shares=c["shares"] - 1),
    "another server": lambda c: c["parties"][0].update(key=PrivateKey.make().public.text),
    "another address": lambda c: c["parties"][0].update(address="https://evil.example"),
    "longer": lambda c: c.update(closes="2099-01-01T00:00:00+00:00"),
    "an operator of its own": lambda c: c.update(operator=PrivateKey.make().public.text),
    "other levels": lambda c: c["levels"][0].update(share=1),
    "another response": lambda c: c["levels"][0].update(response="unary"),
    "something more": lambda c: c.update(more=1),
    "something less": lambda c: c.pop("units"),
    "no signature": lambda c: c.update(signature=""),
    "a broken signature": lambda c: c.update(signature=5),
    "no parties": lambda c: c.update(parties=None),
    "a truth for a number": lambda c: c.update(n_min=True),
    "from the future": lambda c: c.update(format=3),
    "no number": lambda c: c.update(decay="3C4", epsilon="3C4"),
    "another rule": lambda c: c.update(rule={"first": "2", "last": "2"}),
}


LOCAL_LIES = [name for name in LIES if name not in ("fewer shares", "something less")]
SERVER_LIES = [name for name in LIES if name not in ("fewer shares", "other levels", "another response")]
EVERY_LIE = [
    (model, name)
    for model, names in (("servers", SERVER_LIES), ("shuffle", LIES), ("local", LOCAL_LIES))
    for name in names
]


@pytest.mark.parametrize(("model", "name"), EVERY_LIE)
def test_a_file_that_was_altered_is_refused(operator: PrivateKey, model: str, name: str, tmp_path: Path) -> None:
    opened(operator, model).save(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    LIES[name](document)
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match="is not a collection that the operator of this key has signed"):
        Collection.read(tmp_path / "c.json", operator.public)


@given(st.binary(max_size=200) | st.text(max_size=50).map(lambda text: json.dumps([text]).encode()) | st.just(b'"x"'))
def test_rubbish_is_refused(tmp_path_factory: pytest.TempPathFactory, rubbish: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "rubbish.json"
    path.write_bytes(rubbish)
    with pytest.raises(DataError, match="is not a collection"):
        Collection.read(path, KEY)


def test_a_missing_file_and_a_wrong_key_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can't be read"):
        Collection.read(tmp_path / "none.json", PrivateKey.make().public)
    for text in ("", "x", "é" * 86, PrivateKey.make().public.text + "A", PrivateKey.make().public.text[:-1]):
        with pytest.raises(DataError, match="A public key is 86 letters and digits"):
            PublicKey(text)


def test_parties_must_be_whole(operator: PrivateKey) -> None:
    key = PrivateKey.make().public
    with pytest.raises(ParameterError, match="must be 2, each with its own key"):
        Collection.open(terms_of("servers"), {ONE: key, TWO: key}, LATER, operator)
    for address in ("ftp://one.example", "one.example", "https://", "https://one.example/path", "https://one:99999"):
        with pytest.raises(ParameterError, match="A party's address must be such as"):
            Collection.open(terms_of("servers"), {address: key, TWO: PrivateKey.make().public}, LATER, operator)
    parties = {ONE: key, TWO: PrivateKey.make().public}
    with pytest.raises(ParameterError, match="must have a time zone"):
        Collection.open(terms_of("servers"), parties, datetime(2030, 1, 1), operator)


def test_a_key_opens_what_was_sealed_for_it_and_nothing_else(tmp_path: Path) -> None:
    mine, other = PrivateKey.make(), PrivateKey.make()
    sealed = mine.public.seal(b"12345", b"for this")
    assert len(sealed) == 5 + OVERHEAD
    assert sealed != mine.public.seal(b"12345", b"for this"), "each seal is another"
    mine.save(tmp_path / "k")
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    assert PrivateKey.read(tmp_path / "k").opener(b"for this")(sealed) == b"12345"
    altered = bytes([*sealed[:-1], sealed[-1] ^ 1])
    for key, info, text in ((other, b"for this", sealed), (mine, b"for that", sealed), (mine, b"for this", altered)):
        with pytest.raises(BadSeal):
            key.opener(info)(text)
    for short in (b"", b"x" * 47):
        with pytest.raises(BadSeal):
            mine.opener(b"")(short)
    (tmp_path / "k").write_text("{}")
    with pytest.raises(DataError, match="k is not a private key"):
        PrivateKey.read(tmp_path / "k")


def test_signatures_are_for_one_purpose() -> None:
    key = PrivateKey.make()
    signed = key.sign(b"text", b"sum")
    assert key.public.verify(signed, b"sum") == b"text"
    assert key.public.verify(signed, b"close") is None
    assert key.public.verify(signed + b"!", b"sum") is None
    assert key.public.verify(b"", b"sum") is None
    assert PrivateKey.make().public.verify(signed, b"sum") is None


def test_a_ticket_is_for_one_collection(operator: PrivateKey) -> None:
    one, other = opened(operator), opened(operator)
    tickets = make_tickets(one, operator, 3)
    assert [serial_of(one, ticket_bytes(ticket)) for ticket in tickets] == [0, 1, 2]
    assert serial_of(other, ticket_bytes(tickets[0])) is None
    assert serial_of(one, ticket_bytes(make_tickets(one, PrivateKey.make(), 1)[0])) is None
    with pytest.raises(DataError, match="A ticket is 96 letters and digits"):
        client_of(one, "no ticket")


@pytest.mark.parametrize("model", ["servers", "shuffle", "local"])
def test_contributions_are_of_one_size_whatever_is_in_them(operator: PrivateKey, model: str) -> None:
    """Size would tell; and no two contributions of the same person look alike."""
    collection = opened(operator, model)
    client = client_of(collection, make_tickets(collection, operator, 1)[0])
    sizes = {tuple(map(len, client.contribution(x, x))) for x in ([], [0.5], [0.1] * 1000)}
    assert len(sizes) == 1
    assert client.contribution([0.5], [0.5]) != client.contribution([0.5], [0.5])


SOUND = {"another server", "another address", "longer"}
"""Lies that the operator may tell: all numbers still follow from each other."""
ALSO_SOUND = {("local", "less noise"), ("local", "fewer people"), ("servers", "fewer people")}


@pytest.mark.parametrize(("model", "name"), [(model, name) for model, name in EVERY_LIE if "signature" not in name])
def test_even_the_operator_can_sign_no_nonsense(operator: PrivateKey, model: str, name: str, tmp_path: Path) -> None:
    opened(operator, model).save(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    del document["signature"], document["countersignatures"]
    LIES[name](document)
    text = canonical_json(document)
    signature = as_text(operator.sign(text, b"dpheatmap collection")[:64])
    (tmp_path / "c.json").write_text(json.dumps({**document, "signature": signature, "countersignatures": []}))
    if name in SOUND or (model, name) in ALSO_SOUND:
        assert Collection.read(tmp_path / "c.json", operator.public).text == text
    else:
        with pytest.raises(DataError, match="is not a collection"):
            Collection.read(tmp_path / "c.json", operator.public)
