"""The release of a collection, from the sums that its parties have published. Anybody may compute it."""

from __future__ import annotations

import time

import numpy as np

from dpheatmap.collect.additive_shares import WORD, Words
from dpheatmap.collect.collection import Collection, Party
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.network import PAUSE, Network, UnreachableError
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.tally import Tally
from dpheatmap.collect.transcript import DIGEST, ContributionSet, Step, follow
from dpheatmap.errors import DataError
from dpheatmap.releases.release import Release

_HEADER = 8 + 32


def fetch_release(collection: Collection, network: Network) -> Release:
    """Wait for the release; an error if there will be none, or not within the network's patience."""
    end = time.monotonic() + network.patience
    published = publishers(collection)
    found: dict[Party, bytes] = {}
    while any(party not in found for party in published):
        for party in collection.parties:  # the shuffler publishes nothing, but can say that there will be no result
            body = None if party in found else network.fetch(party, "/sum")
            if body is not None:
                found[party] = body
        if time.monotonic() > end:
            raise UnreachableError(
                _why_missing(collection, network, [party for party in published if party not in found])
            )
        time.sleep(PAUSE if len(found) < len(collection.parties) else 0)
    return combine_sums(collection, [found[party] for party in published])


def _why_missing(collection: Collection, network: Network, parties: list[Party]) -> str:
    """A sentence about why there is no result yet."""
    silent = [party.address for party in parties if network.fetch(party, "/status") is None]
    if silent:
        return f"There is no result without {' and '.join(silent)}, and nobody answers there. Check that it runs."
    closes = collection.closes.isoformat()
    return f"The result is not there yet; the collection closes at {closes}, or once its operator says so. Ask again."


def publishers(collection: Collection) -> tuple[Party, ...]:
    """The parties that publish sums: every server, or the analyser."""
    return collection.parties[1:] if collection.terms.model == "shuffle" else collection.parties


def combine_sums(collection: Collection, bodies: list[bytes]) -> Release:
    """Make the release from what the parties signed: the answers of each server, or the sums of the analyser.

    The server of the local model publishes its tally instead.
    """
    terms, purpose = collection.terms, collection.purpose("sum")
    signed_by = zip(publishers(collection), bodies, strict=True)
    payloads = [party.key.verify(body, purpose) for party, body in signed_by]
    if isinstance(terms, ServerTerms):
        return _release_of_answers(terms, [payload or b"" for payload in payloads])
    payload = payloads[0] or b""
    if len(payload) != _HEADER + WORD // 8 * terms.published_words:
        raise _damage()
    words = np.frombuffer(payload, dtype="<i8", offset=_HEADER)
    if isinstance(terms, LocalTerms):
        return Tally.of_words(terms, words).release()
    return terms.release(words.astype(np.int64), int.from_bytes(payload[:8], "little"))


def _release_of_answers(terms: ServerTerms, payloads: list[bytes]) -> Release:
    """Follow the servers' questions again, with the answers that they signed.

    The hash that they signed shows that these are the answers that they gave each other.
    """
    start = _HEADER + DIGEST
    if any(len(payload) < start or (len(payload) - start) % (WORD // 8) for payload in payloads):
        raise _damage()
    if len({payload[:_HEADER] for payload in payloads}) > 1:
        raise DataError(
            "The servers did not sum the same contributions, so their sums can't be added up. "
            "One of them is broken or lies: find out which, and collect again."
        )
    agreed = ContributionSet.from_bytes(payloads[0][:_HEADER])
    if not terms.n_min <= agreed.participants <= terms.n_max:
        raise _contradiction()
    left = [np.frombuffer(payload, dtype="<u8", offset=start).astype(np.uint64) for payload in payloads]

    def hear(step: Step) -> list[Words]:
        size = len(step.asked.cells)
        if any(len(words) < size for words in left):
            raise _contradiction()
        answers = [words[:size] for words in left]
        left[:] = [words[size:] for words in left]
        return answers

    transcript = follow(terms, agreed, hear)
    if any(len(words) for words in left) or {payload[_HEADER:start] for payload in payloads} != {transcript.digest}:
        raise _contradiction()
    return terms.release(transcript.measured, agreed.participants)


def _damage() -> DataError:
    return DataError("A party's sum is damaged, or not signed by it. Ask it again.")


def _contradiction() -> DataError:
    return DataError(
        "The servers' answers are not those that they gave each other. One of them is broken or lies: find out which, "
        "and collect again."
    )
