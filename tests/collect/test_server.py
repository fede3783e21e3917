"""Servers that ask and answer: once each question, after the set is frozen, whatever the others say and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpheatmap.collect import transcript as transcript_module
from dpheatmap.collect.additive_shares import Words
from dpheatmap.collect.collection_result import combine_sums
from dpheatmap.collect.keys import SIGNATURE
from dpheatmap.collect.receiver import ENTRY, Refused
from dpheatmap.collect.server import Server
from dpheatmap.collect.share_sums import ShareSums
from dpheatmap.collect.transcript import DIGEST, ContributionSet, Step, follow
from dpheatmap.curator.core.budget import EVERYTHING, copy_question
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.design import Question
from dpheatmap.design.shares import SHARES
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.place.quadtree import Ints
from helpers.collecting import CORNER, Cast, cast

DEEP = {"depth": 4, "epsilon": 64}
"""A place with several questions, of which most lead into the corner; noise is small beside a person."""


def open_stage(folder: Path, people: int = 4, **options: Any) -> Cast:
    stage = cast(folder, "servers", **{**DEEP, **options})
    stage.crowd(people)
    stage.close()
    return stage


def answers_of(stage: Cast, number: int) -> dict[int, tuple[bytes, bytes]]:
    """A server's own stored answers: question hash and signed body by number."""
    rows = stage.role(number).state.rows("SELECT number, digest, body FROM answers WHERE server = ?", number)
    return {at: (bytes(digest), bytes(body)) for at, digest, body in rows}


def fetched(stage: Cast, number: int, question: int, digest: bytes) -> bytes | None:
    return stage.network.fetch(stage.collection.parties[number], f"/answers/{question}/{digest.hex()}")


def test_questions_lead_to_where_people_are(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    stage.steps()
    release = stage.result()
    assert release.design == stage.collection.served.design
    assert release.trust.participants == 4
    m = release.measurements
    assert set(m.levels.tolist()) == {0, 2, 3, 4}
    assert len(m) < 4**4
    assert abs(m.counts[(m.levels == 4) & (m.codes == 0)][0] / release.units - 4) < 3
    assert len(answers_of(stage, 0)) >= 4
    assert release.heatmap(size=16).values.argmax() == 0


# Before the first answer


def unanswered(stage: Cast, number: int) -> bool:
    """Whether a server has answered nothing yet."""
    return not [question for question in answers_of(stage, number) if question > 0]


def wait_for_the_other(stage: Cast) -> None:
    """The second server is down; the first does what it can."""
    stage.stop(1)
    stage.steps(3)


def test_nothing_is_answered_before_all_lists_are_there(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    wait_for_the_other(stage)
    assert answers_of(stage, 0) == {}
    assert "waiting for the list" in stage.role(0).waiting
    with pytest.raises(Refused, match="not answered yet"):
        stage.role(0).answer(1, "00")
    assert stage.role(0).state.count_contributions() == 4


def test_nothing_is_answered_before_all_have_signed_the_set(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    stage.role(1).step()  # its list is there
    stage.role(0).step()
    assert list(answers_of(stage, 0)) == [0], "the set, and nothing else"
    assert "Waiting for https://127.0.0.1:8001 to answer" in stage.role(0).waiting
    assert stage.role(0).state.count_contributions() == 0, "it can't sum another set any more"


def test_a_server_that_answers_before_the_set_is_signed_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug: the others' words about the set are not waited for."""
    right = Server._payload_of

    def hasty(self: Server, server: int, number: int, digest: bytes, size: int) -> bytes:
        return b"" if number == 0 else right(self, server, number, digest, size)

    monkeypatch.setattr(Server, "_payload_of", hasty)
    stage = open_stage(tmp_path)
    stage.role(1).step()
    stage.role(0).step()
    assert not unanswered(stage, 0)


def shorten_list(stage: Cast, liar: int) -> None:
    """A liar leaves somebody off its list, from now on."""
    role, purpose = stage.role(liar), stage.collection.purpose("entries")
    listed = role.entries()[SIGNATURE:]
    shorter = role.key.sign(listed[: len(listed) * 4 // 5], purpose)
    role.state.write("UPDATE facts SET value = ? WHERE name = 'entries'", shorter)


def test_a_liar_who_tells_two_lists_is_found_out_before_the_first_answer(tmp_path: Path) -> None:
    stage = open_stage(tmp_path, 5, servers=3)
    stage.role(2).step()
    stage.stop(1)
    stage.role(0).step()
    shorten_list(stage, 2)
    stage.start(1)
    stage.steps()
    for honest in (0, 1):
        assert unanswered(stage, honest)
        assert stage.role(honest).phase() == "refused"
        assert stage.role(honest).state.fact("sums") is None
    with pytest.raises(PrivacyRefusal, match="agreed on other contributions"):
        stage.result()


def test_a_list_that_is_too_short_stops_everything(tmp_path: Path) -> None:
    stage = open_stage(tmp_path, 3)
    stage.role(1).step()
    shorten_list(stage, 1)
    stage.steps()
    assert answers_of(stage, 0) == {}
    with pytest.raises(PrivacyRefusal, match="closed with 2 contributions and needs 3"):
        stage.result()


def test_a_list_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    """A liar's list holds everybody, and others up to the largest answer that is fetched."""
    stage = open_stage(tmp_path)
    role, purpose = stage.role(1), stage.collection.purpose("entries")
    role.step()
    listed = role.entries()[SIGNATURE:]
    longer = role.key.sign(listed + bytes(ENTRY * (stage.collection.terms.n_max - len(listed) // ENTRY + 1)), purpose)
    role.state.write("UPDATE facts SET value = ? WHERE name = 'entries'", longer)
    stage.role(0).step()
    with pytest.raises(Refused, match="lists more contributions than there is room for"):
        stage.role(0).outcome()
    assert stage.role(0).state.fact("entries of 1") is None


# Once


def run_with_restarts(stage: Cast) -> list[dict[int, tuple[bytes, bytes]]]:
    """Let servers take steps, and start each of them again after every step; what the first had answered then."""
    seen = []
    for _ in range(12):
        for number in (0, 1):
            stage.role(number).step()
            stage.start(number)
        seen.append(answers_of(stage, 0))
    return seen


def test_a_question_that_comes_again_gets_the_stored_answer(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    seen = run_with_restarts(stage)
    for before, after in pairwise(seen):
        assert before.items() <= after.items()
    for question, (digest, body) in seen[-1].items():
        assert fetched(stage, 0, question, digest) == fetched(stage, 0, question, digest) == body
    assert stage.result().trust.participants == 4


def test_a_server_that_draws_new_noise_for_an_old_question_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug: after a restart the answer is drawn again, and the new one is told."""

    def forgetful(self: Server, step: Step) -> None:
        self.state.write("DELETE FROM answers WHERE number = ? AND server = ?", step.number, self.number)
        self._store(step.number, step.digest, self._share_sums.answer(step.asked).astype("<u8").tobytes())

    monkeypatch.setattr(Server, "_answer", forgetful)
    seen = run_with_restarts(open_stage(tmp_path))
    assert any(not before.items() <= after.items() for before, after in pairwise(seen))


def test_only_the_questions_of_its_own_walk_are_answered(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    stage.steps()
    mine = answers_of(stage, 0)
    digests = {number: digest for number, (digest, _) in mine.items()}
    for number in mine:
        wrong = [hashlib.sha256(b"another").digest(), *(other for at, other in digests.items() if at != number)]
        for digest in wrong:
            with pytest.raises(Refused, match="One of the servers lies or is broken") as refusal:
                stage.role(0).answer(number, digest.hex())
            assert refusal.value.status == 410
    for beyond in (max(mine) + 1, -1, 10**30):
        with pytest.raises(Refused, match="not answered yet"):
            stage.role(0).answer(beyond, digests[1].hex())
    assert answers_of(stage, 0) == mine


def test_shares_and_their_sum_are_deleted_and_overwritten(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    stage.role(1).step()
    shares = [content for (content,) in stage.role(0).state.rows("SELECT content FROM contributions")]
    stage.role(0).step()
    total = stage.role(0).state.fact("sums")
    assert total is not None
    stage.steps()
    assert stage.role(0).state.fact("sums") is None
    stage.stop(0)
    state = (tmp_path / "0.state").read_bytes()
    for secret in (*shares, total):
        assert secret[:64] not in state


# Others that lie


Lie = Callable[[Step, Words, Words | None], Words | None]
"""What a liar tells instead of its own words, knowing the listener's; None if it has no lie yet."""


def words_of(role: Server, server: int, number: int) -> Words | None:
    """The words of a stored answer."""
    body = role._body_of(server, number)
    return None if body is None else np.frombuffer(body[SIGNATURE + DIGEST :], "<u8").astype(np.uint64)


def lie_to(stage: Cast, liar: int, listener: int, lie: Lie, monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """Let a server believe that another one answers with lies; the questions that it asked."""
    right, hear, asked, current = Server._payload_of, Server._answer, list[Step](), list[Step]()

    def remember(self: Server, step: Step) -> None:
        if self is stage.role(listener):
            current[:] = [step]
            if step.number > len(asked):
                asked.append(step)
        hear(self, step)

    def deceived(self: Server, server: int, number: int, digest: bytes, size: int) -> bytes:
        if self is stage.role(listener) and server == liar and number > 0 and not self._body_of(server, number):
            mine = words_of(self, listener, number)
            assert mine is not None
            told = lie(current[0], mine, words_of(stage.role(liar), liar, number))
            if told is not None:
                payload = digest + told.astype("<u8").tobytes()
                body = stage.keys[liar].sign(payload, stage.collection.purpose(f"answer {number}"))
                self.state.write("INSERT INTO answers VALUES (?, ?, ?, ?)", number, server, digest, body)
        return right(self, server, number, digest, size)

    monkeypatch.setattr(Server, "_answer", remember)
    monkeypatch.setattr(Server, "_payload_of", deceived)
    return asked


def most_spent(asked: list[Step], last: int) -> int:
    """The most shares that questions spend on any path, counted cell by cell."""
    spent = np.zeros(4**last, np.int64)
    for step in asked:
        below = 4 ** (last - step.asked.level)
        for cell in step.asked.cells.tolist():
            spent[cell * below : (cell + 1) * below] += step.asked.share
    return int(spent.max())


def made_up(step: Step, mine: Words, theirs: Words | None) -> Words:
    """Answers that make up 0 to 5 people in every cell, whatever is there."""
    rng = np.random.default_rng(step.number)
    return rng.integers(0, 5 * 64, len(mine)).astype(np.uint64) - mine


LIES: dict[str, Lie] = {
    "zeros": lambda step, mine, theirs: np.zeros(len(mine), np.uint64),
    "the opposite of what the honest one says": lambda step, mine, theirs: np.zeros(len(mine), np.uint64) - mine,
    "crowds everywhere": lambda step, mine, theirs: np.full(len(mine), 64, np.uint64) - mine,
    "anything": made_up,
    "rubbish": lambda step, mine, theirs: np.full(len(mine), 2**63 - 7, np.uint64),
}


@pytest.mark.parametrize("name", LIES)
def test_whatever_a_liar_answers_the_honest_servers_questions_keep_within_epsilon(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = open_stage(tmp_path, 6, units=64)
    asked = lie_to(stage, 1, 0, LIES[name], monkeypatch)
    stage.steps()
    assert asked
    assert most_spent(asked, 4) <= SHARES
    assert stage.role(0).phase() in ("published", "refused")
    numbers = sorted(answers_of(stage, 0))
    assert numbers == list(range(len(asked) + 1)), "each question once"


class Wasteful(AdaptiveDesign):
    """A design that asks for the same cells again and again, each time with all of epsilon."""

    def after(self, domain: Any, loss: Any, asked: Question, noisy: Ints) -> list[Question]:
        return [asked._replace(share=SHARES, left=0)] if asked.share < SHARES else []


def wasteful(stage: Cast) -> None:
    """All servers were given a design that overspends, by terms that say so."""
    design = stage.collection.served.design
    broken = Wasteful(**vars(design))
    object.__setattr__(stage.collection, "terms", replace(stage.collection.served, design=broken))


def test_a_server_checks_the_budget_itself(tmp_path: Path) -> None:
    stage = open_stage(tmp_path)
    wasteful(stage)
    with pytest.raises(AssertionError, match="spend more on a path than it has left"):
        stage.steps()
    assert all(len(answers_of(stage, number)) <= 2 for number in (0, 1)), "the set and the first question"


def test_a_server_that_does_not_check_the_budget_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: questions are taken from the design as they come."""

    def unchecked(design: Any, domain: Any, loss: Any, answer: Callable[[Question], Ints]) -> None:
        waiting = [copy_question(design.begin(domain))]
        assert waiting[0].share + waiting[0].left <= EVERYTHING.left
        for asked in waiting:
            waiting += [one for one in design.after(domain, loss, asked, answer(asked)) if len(one.cells)]

    monkeypatch.setattr(transcript_module, "walk", unchecked)
    stage = open_stage(tmp_path)
    wasteful(stage)
    stage.steps()
    assert any(len(answers_of(stage, number)) > 2 for number in (0, 1))


class Halves(AdaptiveDesign):
    """A design that closes the first cells of the start, and finishes the others."""

    turned = False

    def after(self, domain: Any, loss: Any, asked: Question, noisy: Ints) -> list[Question]:
        if asked.left == 0 or self._is_total(asked):
            return super().after(domain, loss, asked, noisy)
        one, two = np.split(asked.cells, 2)[:: -1 if self.turned else 1]
        return [Question(asked.level, one, asked.left, 0),
                Question(asked.level + 1, domain.children(asked.level, two), asked.left, 0)]  # fmt: skip


def test_a_server_whose_questions_have_changed_since_it_answered_goes_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version, started on the state of an older one, chooses otherwise: with the answers of both, some paths
    would spend more than epsilon. The other server lies, and goes along."""
    stage, answered = open_stage(tmp_path, 6, units=64), list[Step]()
    right, waits = ShareSums.answer, {3}

    def even(step: Step, mine: Words, theirs: Words | None) -> Words | None:
        told = np.full(len(mine), 6 * 64 >> 2 * step.asked.level, np.uint64) - mine
        return None if step.number in waits else told

    def answer(self: ShareSums, asked: Question, *source: Any) -> Words:
        if self is vars(stage.role(0)).get("_share_sums"):
            answered.append(Step(0, b"", asked))
        return right(self, asked, *source)

    lie_to(stage, 1, 0, even, monkeypatch)
    monkeypatch.setattr(ShareSums, "answer", answer)
    design = Halves(**vars(stage.collection.served.design))
    object.__setattr__(stage.collection, "terms", replace(stage.collection.served, design=design))
    for number in (1, 0, 1, 0):
        stage.role(number).step()
    assert sorted(answers_of(stage, 0)) == [0, 1, 2, 3]
    monkeypatch.setattr(Halves, "turned", True)
    waits.clear()
    stage.start(0)
    stage.role(0).step()
    assert most_spent(answered, 4) <= SHARES
    assert sorted(answers_of(stage, 0)) == [0, 1, 2, 3]
    with pytest.raises(Refused, match="has signed an answer to another question"):
        stage.role(0).outcome()


def test_forked_answers_are_found_out_at_the_next_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A liar tells one of two honest servers another answer: both stop, and neither answers the other's fork."""
    stage = open_stage(tmp_path, 5, servers=3, units=64)
    asked = lie_to(
        stage, 2, 0, lambda step, mine, theirs: None if theirs is None else theirs + np.uint64(3), monkeypatch
    )
    stage.steps()
    assert most_spent(asked, 4) <= SHARES
    one, two = answers_of(stage, 0), answers_of(stage, 1)
    assert one[1][0] == two[1][0], "the first question is the same"
    assert 2 in one or 2 in two
    if 2 in one and 2 in two:
        assert one[2][0] != two[2][0]
    assert {stage.role(number).phase() for number in (0, 1)} == {"refused"}
    with pytest.raises(PrivacyRefusal, match="has another question 2"):
        stage.result()


def signed_by_the_other(stage: Cast, number: int, payload: bytes) -> bytes:
    return stage.keys[1].sign(payload, stage.collection.purpose(f"answer {number}"))


@pytest.mark.parametrize(
    ("payload", "why"),
    [(lambda digest: bytes(DIGEST) + bytes(8), "another question"),
     (lambda digest: digest + bytes(16), "more cells"),
     (lambda digest: digest, "no cells")],
)  # fmt: skip
def test_an_answer_to_another_question_ends_the_collection(
    payload: Callable[[bytes], bytes], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = open_stage(tmp_path)
    stage.role(1).step()
    right = stage.network.fetch

    def fetch(party: Any, path: str) -> bytes | None:
        _, *words = path.split("/")
        if words[0] == "answers" and words[1] == "1" and party == stage.collection.parties[1]:
            return signed_by_the_other(stage, 1, payload(bytes.fromhex(words[2])))
        return right(party, path)

    monkeypatch.setattr(stage.network, "fetch", fetch)
    stage.steps()
    assert stage.role(0).phase() == "refused", why
    assert sorted(answers_of(stage, 0)) == [0, 1]
    with pytest.raises(PrivacyRefusal, match="has signed an answer to another question"):
        stage.result()


def test_replayed_reordered_and_forged_answers_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody on the line can send: an earlier answer, that of another server, or one signed by nobody."""
    stage = open_stage(tmp_path)
    right, later = stage.network.fetch, list[str]()
    forged: list[Callable[[bytes], bytes]] = [
        lambda digest: answers_of(stage, 1).get(0, (b"", b""))[1],
        lambda digest: answers_of(stage, 0)[1][1],
        lambda digest: bytes(SIGNATURE) + digest + bytes(8),
        lambda digest: b"",
    ]

    def fetch(party: Any, path: str) -> bytes | None:
        _, *words = path.split("/")
        if words[0] == "answers" and words[1] == "1" and party == stage.collection.parties[1] and len(later) < 4:
            later.append(path)
            return forged[len(later) - 1](bytes.fromhex(words[2]))
        return right(party, path)

    monkeypatch.setattr(stage.network, "fetch", fetch)
    stage.steps()
    assert len(later) == 4
    assert stage.result().trust.participants == 4, "they are waited for until they are right"


def test_what_is_published_in_the_end_is_what_was_answered(tmp_path: Path) -> None:
    """A server that publishes other numbers in the end, more, fewer, or those of another collection is found out."""
    stage = open_stage(tmp_path)
    stage.steps()
    one, two = (stage.role(number).outcome() for number in (0, 1))
    assert combine_sums(stage.collection, [one, two]).trust.participants == 4
    text, purpose = two[SIGNATURE:], stage.collection.purpose("sum")
    lies = {
        "another number": text[:-8] + bytes(8),
        "too few": text[:-8],
        "too many": text + bytes(8),
        "another end": text[:40] + bytes(32) + text[72:],
    }
    for name, lie in lies.items():
        with pytest.raises(DataError, match=r"not those that they gave each other|can't be"):
            combine_sums(stage.collection, [one, stage.keys[1].sign(lie, purpose)])
        assert name
    with pytest.raises(DataError, match="did not sum the same contributions"):
        combine_sums(stage.collection, [one, stage.keys[1].sign(b"\x09" + text[1:], purpose)])
    for short in (b"", text[:60], text[:-3]):
        with pytest.raises(DataError, match="damaged, or not signed"):
            combine_sums(stage.collection, [one, stage.keys[1].sign(short, purpose)])


def test_a_server_without_noise_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: with no server's noise the sums are exact, which noise at epsilon 1 hardly makes them all."""

    def exact_everywhere(folder: str) -> bool:
        (tmp_path / folder).mkdir()
        stage = cast(tmp_path / folder, "servers", epsilon=1)
        stage.crowd(4)
        stage.end()
        counts = stage.result().measurements.counts
        return bool(np.all(counts[1:] == 0))

    assert not exact_everywhere("with noise")
    monkeypatch.setattr(ShareSums, "answer", lambda self, asked: self.exact(asked))
    assert exact_everywhere("without")


def test_a_device_that_reached_some_servers_only_is_in_no_sum(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers", **DEEP)
    stage.crowd(4)
    for number, server in ((4, 0), (5, 1)):
        stage.role(server).accept(stage.client(number).contribution(*CORNER)[server])
    stage.end()
    assert stage.result().trust.participants == 4


def test_everybody_follows_the_same_chain() -> None:
    """The hash changes with the set, with any answer, and with nothing else."""
    from helpers.collecting import server_terms

    terms = server_terms(3, epsilon=4, n_max=60)

    def digest(participants: int, first: int) -> bytes:
        def hear(step: Step) -> list[Words]:
            answers = np.full((2, len(step.asked.cells)), 3, np.uint64)
            answers[0, 0] += np.uint64(first if step.number == 1 else 0)
            return list(answers)

        return follow(terms, ContributionSet(participants, bytes(32)), hear).digest

    assert digest(50, 0) == digest(50, 0)
    assert len({digest(50, 0), digest(51, 0), digest(50, 1)}) == 3
