"""The analyser, which opens the shuffled messages, sums the shares by coordinate, and publishes the noisy sums.

It learns nothing beyond the noisy sums that it publishes anyhow, up to delta (`shuffle_bound.py`), as long as the
shuffler does not tell it who sent what. A message that can't be opened, or comes twice, does not count. If some of a
contribution's messages are missing, the sums can't be decoded, and it says so instead of publishing. Either way it
deletes the messages.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import partial

import numpy as np

from dpheatmap.collect.client import message_size
from dpheatmap.collect.keys import OVERHEAD, SIGNATURE, BadSeal
from dpheatmap.collect.message_sums import MessageSums
from dpheatmap.collect.receiver import Refused, Role
from dpheatmap.errors import DataError

START = SIGNATURE + 8 + 32
"""Bytes before a batch's messages: a signature of its number, of the number of all batches, and of its digest."""


class Analyser(Role):
    """The analyser."""

    name = "analyser"

    def header_of(self, body: bytes) -> bytes:
        """What the shuffler has signed at the start of a batch; refused if it has not."""
        header = self.collection.parties[0].key.verify(body[:START], self.collection.purpose("batch"))
        if header is None or len(header) != START - SIGNATURE:
            raise Refused(403, "Only the shuffler of this collection can send batches.")
        return header

    def accept(self, body: bytes) -> None:
        """Take one batch from the shuffler; the same batch may come again."""
        header, content = self.header_of(body), body[START:]
        if hashlib.sha256(content).digest() != header[8:]:
            raise Refused(400, "This batch is damaged. Send it again.")
        number, count = (int.from_bytes(header[at : at + 4], "little") for at in (0, 4))
        with self.state.transaction():
            self.state.write("INSERT OR IGNORE INTO batches VALUES (?, ?, 0)", number, content)
            self.state.learn("count", count.to_bytes(4, "little"))

    def step(self) -> bool:
        """Publish the sums, or say why not, once all batches are there; then delete their content."""
        if self.state.fact("outcome") is not None:
            return True
        count = self.state.fact("count")
        ((there,),) = self.state.rows("SELECT count(*) FROM batches")
        if count is None or there < int.from_bytes(count, "little"):
            return False
        try:
            conclude = partial(self.publish, self._decode())
        except DataError as problem:
            conclude = partial(self.give_up, str(problem))
        with self.state.transaction():
            conclude()
            self.state.write("UPDATE batches SET content = x''")
        return True

    def _decode(self) -> bytes:
        sums, seen = MessageSums(self.collection.shuffled), set[bytes]()
        for (number,) in self.state.rows("SELECT number FROM batches"):
            ((content,),) = self.state.rows("SELECT content FROM batches WHERE number = ?", number)
            sums.add(np.array(self._open_messages(content, seen), dtype=np.uint64))
        participants, needed = sums.participants(), self.collection.terms.n_min
        if participants < needed:
            raise DataError(
                f"Only {participants} of the contributions can be read, and {needed} are needed. Collect again."
            )
        return participants.to_bytes(8, "little") + bytes(32) + sums.decode().astype("<i8").tobytes()

    def _open_messages(self, content: bytes, seen: set[bytes]) -> list[int]:
        """The messages of a batch that can be opened and were not seen before."""
        size = message_size(self.collection) + OVERHEAD
        unseal = self.key.opener(self.collection.purpose("message"))
        found = []
        for at in range(0, len(content) - size + 1, size):
            sealed = content[at : at + size]
            if sealed not in seen:
                seen.add(sealed)
                with suppress(BadSeal):
                    found.append(int.from_bytes(unseal(sealed), "little"))
        return found
