"""The server of secure aggregation, which holds one share of each contribution and answers questions about their sums.

1. *Open.* Each share is opened, checked for its size, and kept with its entry: a hash of ticket number and nonce.
2. *Closed.* The list of entries is frozen: nothing is admitted any more, and the other servers can fetch it, signed.
3. *Frozen.* Once all lists are there, the contributions on all of them are the set. With fewer than n_min nothing is
   ever answered. An entry belongs to one contribution, so a device that started over and reached two servers with
   different contributions is in none of the sums. The server's sum of its shares is written down with the set, signed,
   and the shares are deleted: it can never sum another set. It goes on when all servers have signed the same one.
4. *Questions.* Each server computes the next question itself, from what was answered before (`transcript.py`), and
   checks it against what its paths have left of epsilon. Its answer, with noise of its own, is written down in one step
   before anybody can fetch it. Then it fetches the others' answers; the first one received of each stays.
5. *Published.* After the last question its answers are published together, and the sum of shares is deleted.

What must not happen is a second answer: two answers to one question would average out the noise. A restarted server
finds its answers, and those of the others, where it left them, and so comes to the same questions again. Nobody can ask
it anything: others name the question that they expect, and get the stored answer to that one, or none.

`share_sums.py` shows why the answers are private, even if all other servers lie.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np

from dpheatmap.collect.additive_shares import WORD, Words
from dpheatmap.collect.keys import SIGNATURE
from dpheatmap.collect.possible_sums import SpoiltError
from dpheatmap.collect.receiver import ENTRY, Receiver, Refused
from dpheatmap.collect.seed_shares import expanded_share
from dpheatmap.collect.share_sums import ShareSums
from dpheatmap.collect.transcript import DIGEST, ContributionSet, Step, follow
from dpheatmap.errors import PrivacyRefusal

Entries = set[bytes]
_SET = 0
"""The set stands before the first question, and is agreed upon like an answer."""
_NEVER = 2**31
"""A number that no question has."""


class _WaitingError(Exception):
    """Something that another server has not sent yet."""


class Server(Receiver):
    """One of the servers."""

    name = "server"

    def entries(self) -> bytes:
        """The frozen list of received contributions, signed; refused while the collection is open."""
        frozen = self.state.fact("entries")
        if frozen is None:
            raise Refused(404, "The collection is still open. Ask again later.")
        return frozen

    def answer(self, number: int, digest: str) -> bytes:
        """The stored answer to a question, signed; refused if this server's own question of that number is another."""
        if self.phase() == "refused":
            self.outcome()
        at = min(number, _NEVER)
        found = self.state.rows("SELECT digest, body FROM answers WHERE number = ? AND server = ?", at, self.number)
        if not found:
            raise Refused(404, "This question was not answered yet. Ask again later.")
        ((known, body),) = found
        if known.hex() != digest:
            what = "agreed on other contributions" if number == _SET else f"has another question {number}"
            raise Refused(410, f"This server {what}. One of the servers lies or is broken; collect again.")
        return bytes(body)

    def forget(self) -> None:
        """Delete all contributions, and their sum."""
        super().forget()
        self.__dict__.pop("_share_sums", None)
        self.state.write("DELETE FROM facts WHERE name = 'sums'")

    def _conclude(self) -> bool:
        """Freeze list and set, and answer questions, as far as the others have come."""
        self._freeze_list()
        try:
            if self.state.fact("set") is None:
                self._freeze_set(set.intersection(*self._lists()))
            if self.state.fact("outcome") is None:
                self._answer_questions()
        except _WaitingError as reason:
            self.waiting = str(reason)
            return False
        except (SpoiltError, PrivacyRefusal) as problem:
            with self.state.transaction():
                self.give_up(str(problem))
                self.forget()
        return True

    def _freeze_list(self) -> None:
        if self.state.fact("entries") is not None:
            return
        with self.state.transaction():
            self.state.learn("closed", b"")
            listed = b"".join(entry for (entry,) in self.state.rows("SELECT entry FROM contributions ORDER BY entry"))
            self.state.learn("entries", self.key.sign(listed, self.collection.purpose("entries")))

    def _lists(self) -> list[Entries]:
        """All servers' lists, once they are there."""
        bodies = [self._list_of(number) for number in range(len(self.collection.parties))]
        if None in bodies:
            missing = self.collection.parties[bodies.index(None)].address
            raise _WaitingError(f"Closed; waiting for the list of {missing}. Check that it runs, and its clock.")
        lists = [body[SIGNATURE:] for body in bodies if body is not None]
        return [{text[i : i + ENTRY] for i in range(0, len(text) - len(text) % ENTRY, ENTRY)} for text in lists]

    def _list_of(self, number: int) -> bytes | None:
        """A server's signed list, if it is there; the first one received is stored and stays."""
        if number == self.number:
            return self.entries()
        party, name = self.collection.parties[number], f"entries of {number}"
        known = self.state.fact(name)
        if known is None:
            known = self.network.fetch(party, "/entries")
            if known is None or party.key.verify(known, self.collection.purpose("entries")) is None:
                return None
            if len(known) > SIGNATURE + ENTRY * self.collection.terms.n_max:
                raise SpoiltError(
                    f"{party.address} lists more contributions than there is room for. It lies or is broken: there "
                    "will be no result. Collect again."
                )
            self.state.learn(name, known)
        return known

    def _freeze_set(self, agreed: Entries) -> None:
        """Write down the set and the sum of its shares, once and for good, and delete the shares."""
        if self.too_few(len(agreed)):
            return
        described, total = ContributionSet.of(agreed).to_bytes(), self._sum_of(agreed)
        with self.state.transaction():
            self.state.learn("set", described)
            self.state.learn("sums", total.astype("<u8").tobytes())
            self._store(_SET, hashlib.sha256(described).digest(), b"")
            super().forget()

    def _sum_of(self, agreed: Entries) -> Words:
        """Sum these contributions' shares, read one after the other."""
        total = np.zeros(self.collection.served.tree.size, dtype=np.uint64)
        for serial, entry in self.state.rows("SELECT serial, entry FROM contributions"):
            if entry in agreed:
                ((content,),) = self.state.rows("SELECT content FROM contributions WHERE serial = ?", serial)
                total += expanded_share(self.number, content, len(total))
        return total

    def _answer_questions(self) -> None:
        """Follow the questions from the start, with what is stored, and on from there."""
        described = self.state.fact("set") or b""
        for number in range(len(self.collection.parties)):
            self._payload_of(number, _SET, hashlib.sha256(described).digest(), 0)
        mine = list[Words]()

        def hear(step: Step) -> list[Words]:
            self._answer(step)
            size = WORD // 8 * len(step.asked.cells)
            payloads = [
                self._payload_of(number, step.number, step.digest, size)
                for number in range(len(self.collection.parties))
            ]
            answers = [np.frombuffer(payload, dtype="<u8").astype(np.uint64) for payload in payloads]
            mine.append(answers[self.number])
            return answers

        transcript = follow(self.collection.served, ContributionSet.from_bytes(described), hear)
        with self.state.transaction():
            self.publish(described + transcript.digest + np.concatenate(mine).astype("<u8").tobytes())
            self.forget()

    @cached_property
    def _share_sums(self) -> ShareSums:
        stored = np.frombuffer(self.state.fact("sums") or b"", dtype="<u8")
        return ShareSums(self.collection.served, stored.astype(np.uint64))

    def _answer(self, step: Step) -> None:
        """Draw and store the answer to a question, unless it is stored."""
        if self._body_of(self.number, step.number) is None:
            self._store(step.number, step.digest, self._share_sums.answer(step.asked).astype("<u8").tobytes())

    def _store(self, number: int, digest: bytes, words: bytes) -> None:
        """Write down an own answer; a second one to the same question is an error of the database."""
        body = self.key.sign(digest + words, self.collection.purpose(f"answer {number}"))
        self.state.write("INSERT INTO answers VALUES (?, ?, ?, ?)", number, self.number, digest, body)

    def _body_of(self, server: int, number: int) -> bytes | None:
        rows = self.state.rows("SELECT body FROM answers WHERE number = ? AND server = ?", number, server)
        return bytes(rows[0][0]) if rows else None

    def _payload_of(self, server: int, number: int, digest: bytes, size: int) -> bytes:
        """A server's answer to a question, once it is there; the first one received is stored and stays.

        Also a stored one, of this server or another, must be to this very question. What was stored for another one, by
        a version that chose otherwise, was spent on other paths.
        """
        party, body = self.collection.parties[server], self._body_of(server, number)
        is_new = body is None
        if body is None:
            body = self.network.fetch(party, f"/answers/{number}/{digest.hex()}")
            if body is None or party.key.verify(body, self.collection.purpose(f"answer {number}")) is None:
                raise _WaitingError(f"Waiting for {party.address} to answer. Check that it runs.")
        payload = body[SIGNATURE:]
        if payload[:DIGEST] != digest or len(payload) != DIGEST + size:
            raise SpoiltError(
                f"{party.address} has signed an answer to another question than the one it was asked. It lies or "
                "is broken: there will be no result. Collect again."
            )
        if is_new:
            self.state.write("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", number, server, digest, body)
        return payload[DIGEST:]
