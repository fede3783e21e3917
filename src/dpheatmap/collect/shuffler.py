"""The shuffler, which waits for n_min contributions, mixes all their messages, forwards them, and deletes them.

Devices seal messages for it that are each sealed for the analyser, all of one size: it can't open them, and nobody else
can tell who sent which. Of a sender it keeps only the ticket, until it has mixed. Before n_min contributions have
arrived nothing is forwarded, without exception: with fewer the noise would be too small. The order is drawn once, from
the operating system's randomness, and written down before the first batch leaves; after a restart it sends the rest of
the same batches.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np

from dpheatmap.collect.client import message_size
from dpheatmap.collect.keys import OVERHEAD
from dpheatmap.collect.receiver import Receiver
from dpheatmap.curator import Source, random_words
from dpheatmap.place.quadtree import Ints

BATCH = 2**22
"""Bytes in a batch."""


class Shuffler(Receiver):
    """The shuffler."""

    name = "shuffler"

    def _conclude(self) -> bool:
        """Mix once, then forward batch after batch."""
        self.state.learn("closed", b"")
        if self.state.fact("mixed") is None:
            if self.too_few(self.state.count_contributions()):
                return True
            self._mix()
        return self._forward()

    def _mix(self) -> None:
        """Put all messages in one random order; after that not even the shuffler can tell whose they are."""
        size = message_size(self.collection) + OVERHEAD
        per_batch = max(1, BATCH // size)
        with self.state.transaction():
            contents = b"".join(content for (content,) in self.state.rows("SELECT content FROM contributions"))
            together = np.frombuffer(contents, dtype=f"V{size}")
            mixed = together[random_order(len(together))]
            for number, start in enumerate(range(0, len(mixed), per_batch)):
                content = mixed[start : start + per_batch].tobytes()
                self.state.write("INSERT INTO batches VALUES (?, ?, 0)", number, content)
            self.state.learn("mixed", b"")
            self.forget()

    def _forward(self) -> bool:
        """Send the batches that the analyser does not have yet, and tell whether it has all."""
        analyser = self.collection.parties[1]
        numbers = self.state.rows("SELECT number, sent FROM batches ORDER BY number")
        for number in (number for number, sent in numbers if not sent):
            ((content,),) = self.state.rows("SELECT content FROM batches WHERE number = ?", number)
            header = number.to_bytes(4, "little") + len(numbers).to_bytes(4, "little")
            signed = self.key.sign(header + hashlib.sha256(content).digest(), self.purpose)
            if not self.network.offer(analyser, "/batches", signed + content):
                self.waiting = f"Mixed; waiting for the analyser, {analyser.address}. Check that it runs."
                return False
            self.state.write("UPDATE batches SET sent = 1, content = x'' WHERE number = ?", number)
        self.publish(b"")
        return True

    @property
    def purpose(self) -> bytes:
        """The purpose that batches are signed for."""
        return self.collection.purpose("batch")


def random_order(count: int, source: Source = os.urandom) -> Ints:
    """Draw a uniformly random order, by sorting random keys. Keys that are not all different are drawn again."""
    while True:
        keys = random_words(count, 64, source)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        if np.all(ranked[1:] != ranked[:-1]):
            return order
