"""Whom a device trusts: an operator alone reads nothing, and neither does one organisation in two roles."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from dpheatmap.cli import run
from dpheatmap.collect import trusted_parties
from dpheatmap.collect.client import NONCE, Client, contribution_info
from dpheatmap.collect.collection import AnyTerms, Collection, Countersignature
from dpheatmap.collect.device_account import DeviceAccount
from dpheatmap.collect.keys import PrivateKey, as_text
from dpheatmap.collect.plain_terms import terms_as_lines, terms_in_words
from dpheatmap.collect.tickets import SIZE, make_tickets
from dpheatmap.collect.trusted_parties import countersign, unknown_roles
from dpheatmap.errors import ParameterError, PrivacyRefusal
from helpers.collecting import CORNER, cast, local_terms, numbers_of, terms_of

LATER = datetime.now(UTC) + timedelta(hours=1)
OPERATOR, ONE, TWO, UNIVERSITY, HOSPITAL = (PrivateKey.make() for _ in range(5))
ADDRESSES = "https://one.example:8443", "https://two.example:8443"


def opened(*keys: PrivateKey, terms: AnyTerms | None = None) -> Collection:
    parties = {address: key.public for address, key in zip(ADDRESSES, keys, strict=False)}
    return Collection.open(terms or terms_of("servers"), parties, LATER, OPERATOR)


def device(collection: Collection, *held: PrivateKey, account: DeviceAccount | None = None) -> Client:
    ticket = make_tickets(collection, OPERATOR, 1)[0]
    return Client(collection, ticket, parties=[key.public.text for key in held], account=account)


def content_read_by(collection: Collection, key: PrivateKey, body: bytes) -> bytes:
    ticket, nonce, sealed = body[:SIZE], body[SIZE : SIZE + NONCE], body[SIZE + NONCE :]
    return key.opener(contribution_info(collection, ticket, nonce))(sealed)


def test_an_operator_with_two_servers_of_its_own_reads_nothing() -> None:
    """The attack: both keys are the operator's, who opens both shares. A device that took the keys from the collection
    would send to it; one that holds the organisations' keys does not."""
    mine, also_mine = PrivateKey.make(), PrivateKey.make()
    trap = opened(mine, also_mine)
    fooled = device(trap, mine, also_mine).contribution(*CORNER)
    contents = [content_read_by(trap, key, body) for key, body in zip((mine, also_mine), fooled, strict=True)]
    assert all(contents), "whoever has all keys opens all shares"
    for held in ((), (ONE, TWO), (ONE,), (OPERATOR,), (OPERATOR, ONE), (mine, ONE)):
        with pytest.raises(PrivacyRefusal, match="does not know who runs server"):
            device(trap, *held)
    assert len(device(opened(ONE, TWO), ONE, TWO).contribution(*CORNER)) == 2


def test_the_attack_reads_exact_cells_where_nobody_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: a device that asks for nobody's key. What the operator then reads is where the person was."""
    monkeypatch.setattr(trusted_parties, "check_parties", lambda collection, held: None)
    mine, also_mine = PrivateKey.make(), PrivateKey.make()
    trap = opened(mine, also_mine)
    bodies = device(trap).contribution(*CORNER)
    contents = [content_read_by(trap, key, body) for key, body in zip((mine, also_mine), bodies, strict=True)]
    cells = len(contents[0]) // 8
    vector = sum((numbers_of(content, cells) for content in contents), np.zeros(cells, np.uint64))
    assert vector[0] == trap.terms.to_dict()["units"]
    assert np.count_nonzero(vector) == 1


def test_a_party_with_a_new_key_is_known_by_its_countersignature(tmp_path: Path) -> None:
    collection = opened(ONE, TWO)
    assert unknown_roles(collection, [UNIVERSITY.public, HOSPITAL.public]) == ["server 1", "server 2"]
    signed = countersign(collection, UNIVERSITY, "server 1")
    with pytest.raises(PrivacyRefusal, match="who runs server 2,"):
        device(signed, UNIVERSITY, HOSPITAL)
    signed = countersign(countersign(signed, HOSPITAL, "server 2"), HOSPITAL, "server 2")
    assert len(signed.countersignatures) == 2, "a second one takes the place of the first"
    signed.save(tmp_path / "c.json")
    read = Collection.read(tmp_path / "c.json", OPERATOR.public)
    assert read == signed
    assert read.digest == collection.digest, "tickets and seals stay valid"
    device(read, UNIVERSITY, HOSPITAL)
    device(read, UNIVERSITY, TWO)
    with pytest.raises(PrivacyRefusal, match="who runs server 2,"):
        device(read, UNIVERSITY)


def test_one_organisation_can_not_stand_for_two_parties() -> None:
    both = countersign(countersign(opened(ONE, TWO), UNIVERSITY, "server 1"), UNIVERSITY, "server 2")
    for held in ((UNIVERSITY,), (UNIVERSITY, HOSPITAL), (UNIVERSITY, UNIVERSITY)):
        with pytest.raises(PrivacyRefusal, match="does not know who runs server"):
            device(both, *held)
    mine = countersign(countersign(opened(ONE, TWO), OPERATOR, "server 1"), OPERATOR, "server 2")
    for key in (ONE, TWO, OPERATOR):
        with pytest.raises(PrivacyRefusal, match="does not know who runs server"):
            device(mine, key)
    device(both, UNIVERSITY, ONE)  # each counts once, whichever way round it takes
    device(both, ONE, UNIVERSITY)
    device(both, UNIVERSITY, TWO)


def test_a_countersignature_is_for_one_role_of_one_collection() -> None:
    collection, other = opened(ONE, TWO), opened(TWO, ONE)
    signed = countersign(collection, UNIVERSITY, "server 1")
    (given,) = signed.countersignatures
    forged = PrivateKey.make().sign(b"", collection.purpose("countersignature server 1"))
    for wrong in (
        replace(collection, countersignatures=(given._replace(role="server 2"),)),
        replace(other, countersignatures=(given,)),
        replace(collection, countersignatures=(given._replace(signature=as_text(forged)),)),
        replace(collection, countersignatures=(given._replace(signature="é"),)),
        replace(collection, countersignatures=(Countersignature("server 1", UNIVERSITY.public, ""),)),
        replace(collection, countersignatures=(given._replace(role="\ud800"),)),  # no text that can be signed
    ):
        assert not any(party["countersigned"] for party in terms_in_words(wrong)["parties"]), "nor shown as signed"
        assert unknown_roles(wrong, [UNIVERSITY.public]) == ["server 1", "server 2"]
    assert unknown_roles(signed, [UNIVERSITY.public]) == ["server 2"]
    with pytest.raises(ParameterError, match="role must be one of server 1, server 2"):
        countersign(collection, UNIVERSITY, "server 3")


def test_nobody_has_to_be_known_where_nobody_is_trusted() -> None:
    assert device(opened(ONE, terms=local_terms())).contribution([0.5], [0.5])


def test_plain_http_is_for_this_machine_only() -> None:
    keys = ONE.public, TWO.public
    for address in (
        "http://one.example:80",
        "http://192.0.2.1:8000",
        "http://localhost.example:1",
        "http://[2001:db8::1]:1",
    ):
        with pytest.raises(ParameterError, match="must begin with https, except on this machine"):
            Collection.open(terms_of("servers"), dict(zip((address, ADDRESSES[1]), keys, strict=True)), LATER, OPERATOR)
    for address in ("http://127.0.0.1:8000", "http://127.9.9.9:1", "http://localhost:8000", "http://[::1]:8000"):
        Collection.open(terms_of("servers"), dict(zip((address, ADDRESSES[1]), keys, strict=True)), LATER, OPERATOR)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example:1#\nServer 1 at https://good.example, known to this device",
        "https://good.example@evil.example:1",
        "http://evil.example\\@127.0.0.1:1",  # to browsers, the host ends at the backslash
        "https://good.example:1\n",
        "https://go\tod.example:1",
        "https://g\u043e\u043ed.example:1",
        " https://good.example:1",
    ],
)
def test_an_address_shows_the_host_that_is_sent_to_and_nothing_else(address: str) -> None:
    parties = {address: ONE.public, ADDRESSES[1]: TWO.public}
    with pytest.raises(ParameterError, match="A party's address must be such as"):
        Collection.open(terms_of("servers"), parties, LATER, OPERATOR)


def test_the_terms_are_shown_before_anything_is_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection = countersign(opened(ONE, TWO), UNIVERSITY, "server 1")
    collection.save(tmp_path / "c.json")
    account = str(tmp_path / "account")
    words = ["--operator", OPERATOR.public.text, "--party", UNIVERSITY.public.text, "--account", account]
    assert run(["collect", "limit", "2.5", "--account", account]) == 0
    assert capsys.readouterr().out == "Limit 2.5; 0 spent, 2.5 left.\n"
    assert run(["collect", "show", str(tmp_path / "c.json"), *words]) == 0
    shown = capsys.readouterr().out
    for needed in (
        "an epsilon of 1\n",
        "nothing is published below 3 contributions; there is room for 6",
        collection.closes.isoformat(),
        f"Server 1 at {ADDRESSES[0]}, known to this device",
        f"Server 2 at {ADDRESSES[1]}, NOT known to this device",
        "all servers together: exactly where you were",
        "This device's limit is 2.5; 0 are spent, 2.5 left.",
        *(key.public.fingerprint for key in (OPERATOR, ONE, TWO, UNIVERSITY)),
    ):
        assert needed in shown
    assert len(ONE.public.fingerprint) == 39
    assert ONE.public.fingerprint != TWO.public.fingerprint


@pytest.mark.parametrize("model", ["shuffle", "local"])
def test_every_model_has_words(model: str, tmp_path: Path) -> None:
    collection = cast(tmp_path, model).collection
    lines = terms_as_lines(terms_in_words(collection))
    assert any(line.startswith("Costs") and ("0.01" in line) == (model == "shuffle") for line in lines)
    words = "whom nobody has to trust" if model == "local" else "NOT known"
    assert len([line for line in lines if words in line]) == len(collection.parties)


def test_a_countersignature_by_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened(ONE, TWO).save(tmp_path / "c.json")
    UNIVERSITY.save(tmp_path / "u.key")
    words = ["--operator", OPERATOR.public.text, "--role", "server 1", "--key", str(tmp_path / "u.key")]
    assert run(["collect", "countersign", str(tmp_path / "c.json"), *words]) == 0
    assert f"countersigned by  {UNIVERSITY.public.fingerprint}" in capsys.readouterr().err
    assert unknown_roles(Collection.read(tmp_path / "c.json", OPERATOR.public), [UNIVERSITY.public]) == ["server 2"]
