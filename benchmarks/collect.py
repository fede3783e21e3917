"""Collections at the paper's size, 320 x 240: what devices, servers and the analyser compute and send.

The bars count arithmetic and payload. That messages of the shuffle model can't be linked needs a seal for each, which
costs far more than all the rest; it is measured on a sample and reported for a whole contribution.

Servers that look where people are send less, and make better maps than servers that publish all cells at once
(`served.py`).
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import served
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap.collect.contribution import messages, noisy_vector, vector_of
from dpheatmap.collect.keys import OVERHEAD, PrivateKey
from dpheatmap.collect.message_sums import MessageSums
from dpheatmap.collect.seed_shares import expanded_share, split_by_seeds
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.shuffle_bound import paper_shares
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.place.domain import Domain
from packing import Bytes, pack, packed_size, unpack

DOMAIN = Domain.image(320, 240)
PEOPLE = 50
SEALS = 2000


def shuffle_terms() -> ShuffleTerms:
    return ShuffleTerms.of(DOMAIN, epsilon=5, delta=1e-5, n_min=PEOPLE, n_max=PEOPLE)


def payload(terms: ShuffleTerms) -> Bytes:
    """One device's messages, as few bits each as they take."""
    x, y = np.random.default_rng().uniform(0, 240, (2, 60))
    vector = vector_of(terms, *terms.tree.leaves(x, y))
    found = messages(terms, noisy_vector(terms, vector))
    packed = np.zeros(packed_size(len(found), terms.message_bits), dtype=np.uint8)
    pack(found, terms.message_bits, packed)
    return packed


def shares(terms: ServerTerms) -> list[bytes]:
    """One device's share for each server."""
    x, y = np.random.default_rng().uniform(0, 240, (2, 60))
    return split_by_seeds(vector_of(terms, *terms.tree.leaves(x, y)), terms.servers)


def analyse(terms: ShuffleTerms, contributions: list[Bytes]) -> None:
    sums = MessageSums(terms)
    found = np.zeros(terms.shares * terms.tree.size, dtype=np.uint64)
    for packed in contributions:
        unpack(packed, terms.message_bits, found)
        sums.add(found)
    assert sums.participants() == len(contributions)
    sums.decode()


def analyser() -> int:
    """In a process of its own, for its memory: sums of all devices' payloads."""
    terms = shuffle_terms()
    contributions = [payload(terms) for _ in range(PEOPLE)]
    print(cpu_seconds(lambda: analyse(terms, contributions)), peak_megabytes())
    return 0


def seals(terms: ShuffleTerms) -> None:
    """What one ciphertext a message costs."""
    key, size = PrivateKey.make(), -(-terms.message_bits // 8)
    sealed: list[bytes] = []
    seal = cpu_seconds(lambda: sealed.extend(key.public.seal(bytes(size), b"info") for _ in range(SEALS))) / SEALS
    opened = key.opener(b"info")
    unseal = cpu_seconds(lambda: [opened(text) for text in sealed]) / SEALS
    count = terms.shares * terms.tree.size
    print(
        f"one seal a message: {len(sealed[0])} bytes ({OVERHEAD} of them the seal's), {1e6 * seal:.0f} us to seal and "
        f"{1e6 * unseal:.0f} us to open; a contribution of {count:,} messages would take "
        f"{count * len(sealed[0]) / 1e6:.0f} MB and {count * seal:.0f} CPU s, and the analyser "
        f"{PEOPLE * count * unseal / 3600:.1f} CPU h for {PEOPLE} of them"
    )


def main() -> int:
    terms, servers = shuffle_terms(), ServerTerms.of(DOMAIN, epsilon=5, n_min=PEOPLE, n_max=PEOPLE)
    print(
        f"{terms.tree.size:,} coordinates, modulus 2^{terms.modulus_bits}, r = {terms.shares} "
        f"(the paper's formula: {paper_shares(PEOPLE, 256 * PEOPLE, terms.tree.size, 5.0, 1e-5)})"
    )
    first = cpu_seconds(lambda: payload(terms))
    print(f"a device's first contribution, with loading compiled code and making tables: {first:.2f} CPU s")
    child = subprocess.run([sys.executable, __file__, "analyser"], capture_output=True, text=True, check=True)
    seconds, memory = map(float, child.stdout.split())
    seals(terms)
    sent = shares(servers)
    expand = cpu_seconds(lambda: expanded_share(1, sent[1], servers.tree.size), 5)
    at_once = 2 * 8 * sum(DOMAIN.count(level) for level in range(DOMAIN.first_level(20), DOMAIN.depth + 1))
    results = [
        bar("a contribution by shuffle", cpu_seconds(lambda: payload(terms), 5), 0.5, unit=" CPU s"),
        bar("its payload", len(payload(terms)) / 1e6, 7.5, unit=" MB"),
        bar("a contribution by secure aggregation", cpu_seconds(lambda: shares(servers), 5), 0.5, unit=" CPU s"),
        bar("its payload to both servers, of all levels'", sum(map(len, sent)) / at_once, 0.5),
        bar("a server's work on a seed", 1000 * expand, 2, unit=" CPU ms"),
        bar(f"the analyser's sums of {PEOPLE} contributions", seconds, 20, unit=" CPU s"),
        bar("the analyser's memory", memory, 2000, unit=" MB"),
    ]
    return 0 if all([*results, *served.measure()]) else 1


if __name__ == "__main__":
    sys.exit(analyser() if sys.argv[1:] else main())
