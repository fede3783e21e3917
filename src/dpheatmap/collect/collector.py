"""The server of the local model, which gathers noisy reports and publishes how often each answer was given.

It need not be trusted: a report is epsilon-DP against whoever reads it (`local.py`), and so are sums of reports. It
adds no noise of its own. It must count everybody once: a ticket is valid for one report, and the same report sent again
counts as that one.

When the collection is closed, it publishes its tally, once, and deletes the reports. Whoever has the tally can make the
release, and check it.
"""

from __future__ import annotations

from dpheatmap.collect.local import LocalTerms, Report
from dpheatmap.collect.receiver import Receiver, Refused
from dpheatmap.collect.tally import Tally
from dpheatmap.errors import DataError

_AT_ONCE = 1000
"""Reports that are in memory at a time."""


class Collector(Receiver):
    """The server of the local model."""

    name = "server"

    @property
    def terms(self) -> LocalTerms:
        """The terms of the collection, by which reports are made."""
        if not isinstance(self.collection.terms, LocalTerms):
            raise TypeError("not a collection of the local model")
        return self.collection.terms

    def _open(self, ticket: bytes, nonce: bytes, sealed: bytes) -> bytes:
        """Open a report; refuse one that is not of this collection."""
        text = super()._open(ticket, nonce, sealed)
        try:
            Report.from_padded_bytes(text, self.terms)
        except DataError as problem:
            raise Refused(400, str(problem)) from None
        return text

    def _conclude(self) -> bool:
        """Publish the tally."""
        self.state.learn("closed", b"")
        if not self.too_few(self.state.count_contributions()):
            tally = self._tally()
            header = tally.participants.to_bytes(8, "little") + bytes(32)
            with self.state.transaction():
                self.publish(header + tally.words().astype("<i8").tobytes())
                self.forget()
        return True

    def _tally(self) -> Tally:
        tally, last = Tally(self.terms), -1
        wanted = "SELECT serial, content FROM contributions WHERE serial > ? ORDER BY serial LIMIT ?"
        while rows := self.state.rows(wanted, last, _AT_ONCE):
            tally.add_all(Report.from_padded_bytes(content, self.terms) for _, content in rows)
            last = rows[-1][0]
        return tally
