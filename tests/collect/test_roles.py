"""Shuffler, analyser and servers: what they refuse, what survives a restart, and that they say one thing only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpheatmap.collect.client import NONCE, contribution_info, message_size
from dpheatmap.collect.collection_result import combine_sums
from dpheatmap.collect.keys import OVERHEAD, SIGNATURE, BadSeal, PrivateKey
from dpheatmap.collect.receiver import ENTRY, Refused, entry_of
from dpheatmap.collect.shuffler import random_order
from dpheatmap.collect.tickets import SIZE, make_tickets, ticket_bytes
from dpheatmap.errors import DataError, PrivacyRefusal
from helpers.audit import chi_square
from helpers.collecting import ALPHA, CORNER, OUTSIDE, Cast, also_local, cast, client_of, each_model, refusal_of


def people_in_corner(cast: Cast) -> float:
    """The noisy number of people in the first cell of the first level."""
    release = cast.result()
    return float(release.measurements.at(2)[1][0] / release.units)


@each_model
def test_a_collection_ends_with_the_right_sums(model: str, tmp_path: Path) -> None:
    """At epsilon 16 on one level, noise beyond 3 people has a probability below e^-40."""
    stage = cast(tmp_path, model)
    for number in range(5):
        stage.send(number, *(CORNER if number < 4 else OUTSIDE))
    stage.steps()
    assert stage.role(0).phase() == "open"
    stage.end()
    release = stage.result()
    assert release.trust.participants == 5
    assert abs(people_in_corner(stage) - 4) < 3
    assert [stage.role(number).phase() for number in (0, 1)] == ["published"] * 2


@also_local
def test_below_n_min_nothing_is_forwarded_or_published_and_all_is_deleted(model: str, tmp_path: Path) -> None:
    stage = cast(tmp_path, model)
    stage.crowd(2)
    stage.end()
    assert stage.role(0).phase() == "refused"
    assert stage.role(0).state.count_contributions() == 0
    with pytest.raises(PrivacyRefusal, match="closed with 2 contributions and needs 3: nothing is published"):
        stage.network.fetch(stage.collection.parties[0], "/sum")
    if model == "shuffle":
        assert stage.role(1).state.fact("count") is None, "the analyser got nothing"
    stage.start(0)
    stage.steps()
    assert stage.role(0).phase() == "refused", "no second thoughts after a restart"


def sealed_for(stage: Cast, party: int, number: int, content: bytes) -> bytes:
    """Anything as a contribution, as a device that does not keep to the protocol may send it."""
    ticket, nonce = ticket_bytes(stage.tickets[number]), bytes(NONCE)
    info = contribution_info(stage.collection, ticket, nonce)
    return ticket + nonce + stage.collection.parties[party].key.seal(content, info)


@also_local
def test_what_is_malformed_repeated_strange_or_late_is_refused_and_changes_nothing(model: str, tmp_path: Path) -> None:
    stage = cast(tmp_path, model)
    role, client = stage.role(0), stage.client(0)
    body = client.contribution(*CORNER)[0]
    role.accept(body)
    role.accept(body)  # a device that got no answer
    assert role.state.count_contributions() == 1
    assert refusal_of(role, client.contribution(*CORNER)[0]) == (
        409, "This ticket was used for another contribution. One ticket is for one."
    )  # fmt: skip
    for strange in (b"", b"x" * 50, body[:-1], body + b"x"):
        assert refusal_of(role, strange)[0] == 400
    stranger = client_of(stage.collection, make_tickets(stage.collection, PrivateKey.make(), 9)[8])
    assert refusal_of(role, stranger.contribution(*CORNER)[0])[0] == 403
    if model != "local":  # where there is no other
        sealed_for_the_other = sealed_for(stage, 1, 1, bytes(role.largest_body - SIZE - NONCE - OVERHEAD))
        assert refusal_of(role, sealed_for_the_other)[0] == 400
    mine, others = (stage.client(number).contribution(*CORNER)[0] for number in (1, 2))
    assert refusal_of(role, mine[: SIZE + NONCE] + others[SIZE + NONCE :])[0] == 400, "what another sent"
    assert refusal_of(role, mine[:SIZE] + bytes(NONCE) + mine[SIZE + NONCE :])[0] == 400, "under another name"
    for number in range(1, 6):
        role.accept(stage.client(number).contribution(*CORNER)[0])
    assert refusal_of(role, stage.client(6).contribution(*CORNER)[0]) == (
        409, "The collection is full. Take part in the next one."
    )  # fmt: skip
    for forged_close in (b"", b"x" * 64, PrivateKey.make().sign(b"", stage.collection.purpose("close"))):
        with pytest.raises(Refused, match="Only the operator"):
            role.close(forged_close)
    stage.close()
    assert refusal_of(role, stage.client(7).contribution(*CORNER)[0])[0] == 410
    assert role.state.count_contributions() == 6


# Servers


def test_a_client_is_in_all_sums_or_in_none(tmp_path: Path) -> None:
    """One reached the first server only; one started over after reaching the first; both are left out."""
    stage = cast(tmp_path, "servers")
    stage.crowd(3)
    stage.role(0).accept(stage.client(3).contribution(*CORNER)[0])
    again = stage.client(4)
    stage.role(0).accept(again.contribution(*CORNER)[0])
    stage.role(1).accept(again.contribution(*CORNER)[1])
    stage.end()
    assert stage.result().trust.participants == 3
    assert abs(people_in_corner(stage) - 3) < 3


def test_a_server_publishes_the_same_sum_after_a_restart(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers")
    for number in range(4):
        stage.send(number, *CORNER)
        stage.start(number % 2)  # restarted in the middle
    stage.close()
    stage.stop(1)
    stage.steps()
    assert stage.role(0).phase() == "working"
    assert "waiting for the list of https://127.0.0.1:8001" in stage.role(0).waiting
    stage.start(0)
    stage.start(1)
    stage.steps()
    first = [stage.network.fetch(party, "/sum") for party in stage.collection.parties]
    for number in range(2):
        stage.start(number)
    stage.steps()
    assert [stage.network.fetch(party, "/sum") for party in stage.collection.parties] == first
    assert stage.role(0).state.count_contributions() == 0, "shares are deleted"
    assert abs(people_in_corner(stage) - 4) < 3


def test_a_list_does_not_tell_strangers_who_took_part(tmp_path: Path) -> None:
    """Anybody may fetch it, and the operator knows to whom each number was given."""
    stage = cast(tmp_path, "servers")
    for number in (5, 0, 3):
        stage.send(number, *CORNER)
    stage.end()
    listed = [stage.role(number).entries()[SIGNATURE:] for number in (0, 1)]
    assert listed[0] == listed[1]
    entries = [listed[0][at : at + ENTRY] for at in range(0, len(listed[0]), ENTRY)]
    assert len(entries) == 3
    assert entries == sorted(entries), "nor by their order"
    for number in range(6):
        assert number.to_bytes(8, "little") not in listed[0]
        assert entry_of(number, bytes(NONCE)) not in entries
    assert entry_of(0, bytes(NONCE)) != entry_of(1, bytes(NONCE)), "nor can one device take another's name"


def test_lists_and_sums_must_be_signed(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers")
    stage.crowd(3)
    with pytest.raises(Refused, match="still open"):
        stage.role(0).entries()
    with pytest.raises(Refused, match="no result yet"):
        stage.role(0).outcome()
    with pytest.raises(DataError, match="damaged, or not signed"):
        stage.result()
    stage.close()
    stage.role(1).key = PrivateKey.make()  # an impostor
    stage.steps()
    assert stage.role(0).phase() == "working"


def test_nobody_else_can_publish_a_servers_sum(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers")
    stage.crowd(3)
    stage.end()
    one, two = (stage.role(number).outcome() for number in (0, 1))
    assert combine_sums(stage.collection, [one, two]).trust.participants == 3
    forged = PrivateKey.make().sign(one[SIGNATURE:], stage.collection.purpose("sum"))
    altered = one[:-1] + bytes([one[-1] ^ 1])
    for other in (forged, altered, two):
        with pytest.raises(DataError, match="damaged, or not signed by it"):
            combine_sums(stage.collection, [other, two])


# Shuffle


def test_the_shuffler_forwards_what_it_mixed_and_keeps_nothing_of_senders(tmp_path: Path) -> None:
    stage = cast(tmp_path, "shuffle")
    size = message_size(stage.collection) + OVERHEAD
    bodies = [stage.client(number).contribution(*CORNER)[0] for number in range(4)]
    for body in bodies:
        stage.role(0).accept(body)
    kept = [content for (content,) in stage.role(0).state.rows("SELECT content FROM contributions")]
    sent = [content[at : at + size] for content in kept for at in range(0, len(content), size)]
    stage.close()
    stage.role(0).step()
    content = b"".join(batch for (batch,) in stage.role(1).state.rows("SELECT content FROM batches ORDER BY number"))
    got = [content[at : at + size] for at in range(0, len(content), size)]
    assert sorted(got) == sorted(sent)
    assert got != sent
    assert not any(message in body for message in got for body in bodies), "on the line nobody's can be told"
    with pytest.raises(BadSeal):
        stage.keys[0].opener(stage.collection.purpose("message"))(got[0])
    stage.stop(0)
    state = (tmp_path / "0.state").read_bytes()
    assert not any(message in state for message in sent[:50]), "deleted, and overwritten"


def test_the_order_is_uniform() -> None:
    orders = [tuple(random_order(4).tolist()) for _ in range(24 * 300)]
    ranks = np.unique(np.array(orders) @ [64, 16, 4, 1], return_inverse=True)[1]
    assert chi_square(np.bincount(ranks, minlength=24), [1 / 24] * 24) > ALPHA
    repeated = iter([bytes(8 * 3), bytes([*range(24)])])
    assert sorted(random_order(3, lambda size: next(repeated)).tolist()) == [0, 1, 2], "equal keys are drawn again"


def test_batches_survive_restarts_and_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpheatmap.collect.shuffler.BATCH", 3000)
    stage = cast(tmp_path, "shuffle")
    for number in range(4):
        stage.send(number, *CORNER)
        stage.start(0)
    stage.close()
    stage.stop(1)
    stage.steps()
    assert "waiting for the analyser, https://127.0.0.1:8001" in stage.role(0).waiting
    order = stage.role(0).state.rows("SELECT content FROM batches ORDER BY number")
    assert len(order) > 3
    assert stage.role(0).state.count_contributions() == 0
    stage.start(0)
    stage.start(1)
    offered = stage.network.offer
    calls: list[bool] = []

    def flaky(*parts: Any) -> bool:
        """The analyser takes every batch, but its answer to the third is lost."""
        calls.append(offered(*parts))
        return calls[-1] and len(calls) != 3

    monkeypatch.setattr(stage.network, "offer", flaky)
    assert not stage.role(0).step()
    stage.start(0)
    stage.start(1)
    stage.steps()
    assert stage.role(1).state.rows("SELECT count(*) FROM batches") == [(len(order),)]
    assert len(calls) == len(order) + 1
    assert abs(people_in_corner(stage) - 4) < 3
    before = stage.network.fetch(stage.collection.parties[1], "/sum")
    stage.start(1)
    assert stage.network.fetch(stage.collection.parties[1], "/sum") == before


def partly_garbage(stage: Cast, part: float = 1.0) -> bytes:
    """A contribution whose messages can't be opened, but for the first part of them."""
    size, messages = stage.role(0).largest_body - SIZE - NONCE - OVERHEAD, b""
    if part < 1:
        stage.role(0).accept(stage.client(4).contribution(*CORNER)[0])
        ((messages,),) = stage.role(0).state.rows("SELECT content FROM contributions WHERE serial = 4")
        stage.role(0).state.write("DELETE FROM contributions WHERE serial = 4")
    good = messages[: round(size * (1 - part))]
    return sealed_for(stage, 0, 4, good + bytes(size - len(good)))


def ended_with_garbage(folder: Path, people: int, part: float = 1.0) -> Cast:
    """A collection of so many people, and of somebody whose messages are garbage, or a part of them."""
    stage = cast(folder, "shuffle")
    stage.crowd(people)
    stage.role(0).accept(partly_garbage(stage, part))
    stage.end()
    return stage


def test_garbage_is_left_out(tmp_path: Path) -> None:
    stage = ended_with_garbage(tmp_path, 4)
    assert stage.result().trust.participants == 4
    assert abs(people_in_corner(stage) - 4) < 3


@pytest.mark.parametrize(
    ("people", "part", "words"),
    [(4, 0.5, "missing or too many"), (2, 1.0, "Only 2 of the contributions can be read, and 3 are needed")],
)
def test_half_garbage_and_too_few_that_can_be_read_are_refused(
    people: int, part: float, words: str, tmp_path: Path
) -> None:
    stage = ended_with_garbage(tmp_path, people, part)
    with pytest.raises(PrivacyRefusal, match=words):
        stage.network.fetch(stage.collection.parties[1], "/sum")
    assert set(stage.role(1).state.rows("SELECT content FROM batches")) == {(b"",)}, "messages are deleted all the same"


def test_a_message_that_comes_twice_counts_once(tmp_path: Path) -> None:
    stage = cast(tmp_path, "shuffle")
    stage.crowd(4)
    first = stage.role(0).state.rows("SELECT content FROM contributions")[0][0]
    stage.role(0).accept(stage.client(4).contribution(*CORNER)[0])
    stage.role(0).state.write("UPDATE contributions SET content = ? WHERE serial = 4", first)
    stage.end()
    assert stage.result().trust.participants == 4


def test_only_the_shuffler_sends_batches(tmp_path: Path) -> None:
    stage = cast(tmp_path, "shuffle")
    for body in (b"", b"x" * 100, stage.operator.sign(bytes(100), stage.collection.purpose("batch"))):
        with pytest.raises(Refused, match="Only the shuffler"):
            stage.role(1).accept(body)


def test_a_key_must_be_the_roles_own(tmp_path: Path) -> None:
    stage = cast(tmp_path, "shuffle")
    with pytest.raises(DataError, match="not the key of a shuffler"):
        stage.collection.index_of(stage.keys[1].public, "shuffler")
