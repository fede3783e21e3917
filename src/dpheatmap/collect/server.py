"""The server of secure aggregation, which keeps one share of each contribution and publishes one noisy sum.

1. *Open.* Each share is opened, checked for its size, and kept with its entry: a hash of ticket number and nonce.
2. *Closed.* The list of entries is frozen: nothing is admitted any more, and the other servers can fetch it, signed.
3. *Agreed.* Once all lists are there, the contributions on all of them are summed. An entry belongs to one
   contribution, so a device that started over and reached two servers with different contributions is in none of the
   sums.
4. *Published.* Sum and noise are written down in one step before anybody can fetch them, and the shares are deleted. A
   restarted server publishes the same sum again, never one with other noise: two sums of one set would average out the
   noise, and sums of two sets would show the difference of somebody.

`contribution.py` shows why the sum is private, even if all other servers lie about their lists.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dpheatmap.collect.additive_shares import Words
from dpheatmap.collect.collection import Party
from dpheatmap.collect.contribution import server_noise
from dpheatmap.collect.receiver import ENTRY, Receiver, Refused

Entries = set[bytes]


class Server(Receiver):
    """One of the servers."""

    name = "server"

    def entries(self) -> bytes:
        """The frozen list of received contributions, signed; refused while the collection is open."""
        frozen = self.state.fact("entries")
        if frozen is None:
            raise Refused(404, "The collection is still open. Ask again later.")
        return frozen

    def _conclude(self) -> bool:
        """Freeze the list, fetch the others', and publish."""
        with self.state.transaction():
            self.state.learn("closed", b"")
            listed = b"".join(entry for (entry,) in self.state.rows("SELECT entry FROM contributions ORDER BY entry"))
            self.state.learn("entries", self.key.sign(listed, self.collection.purpose("entries")))
        lists = [self._list_of(number, party) for number, party in enumerate(self.collection.parties)]
        found = [of_one for of_one in lists if of_one is not None]
        if len(found) == len(lists):
            self._finish(set.intersection(*found))
            return True
        missing = self.collection.parties[lists.index(None)].address
        self.waiting = f"Closed; waiting for the list of {missing}. Check that it runs, and its clock."
        return False

    def _list_of(self, number: int, party: Party) -> Entries | None:
        """A server's list, once it is there; the first one received is stored and stays."""
        name, purpose = f"entries of {number}", self.collection.purpose("entries")
        body = self.entries() if number == self.number else self.state.fact(name)
        if body is None:
            body = self.network.fetch(party, "/entries")
            if body is None or party.key.verify(body, purpose) is None:
                return None
            self.state.learn(name, body)
        listed = party.key.verify(body, purpose) or b""
        return {listed[i : i + ENTRY] for i in range(0, len(listed) - len(listed) % ENTRY, ENTRY)}

    def _finish(self, agreed: Entries) -> None:
        if self.too_few(len(agreed)):
            return
        total = server_noise(self.collection.summed) + self._sum_of(agreed)
        header = len(agreed).to_bytes(8, "little") + hashlib.sha256(b"".join(sorted(agreed))).digest()
        with self.state.transaction():
            self.publish(header + total.astype("<u8").tobytes())
            self.forget()

    def _sum_of(self, agreed: Entries) -> Words:
        """Sum these contributions' shares, read one after the other."""
        total = np.zeros(self.collection.summed.tree.size, dtype=np.uint64)
        for serial, entry in self.state.rows("SELECT serial, entry FROM contributions"):
            if entry in agreed:
                ((content,),) = self.state.rows("SELECT content FROM contributions WHERE serial = ?", serial)
                total += np.frombuffer(content, dtype="<u8")
        return total
