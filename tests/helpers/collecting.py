"""What tests of collections share: terms, keys and roles in one process, and the law of what comes out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from dpheatmap.collect.analyser import Analyser
from dpheatmap.collect.client import Client
from dpheatmap.collect.collection import AnyTerms, Collection, Party
from dpheatmap.collect.collection_result import combine_sums, publishers
from dpheatmap.collect.keys import PrivateKey
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.network import Network, UnreachableError
from dpheatmap.collect.process_state import State
from dpheatmap.collect.receiver import Receiver, Refused, Role, close_early
from dpheatmap.collect.server import Server
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.tickets import make_tickets
from dpheatmap.collect.web_process import kind_of
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.release import Release
from helpers.audit import chi_square
from helpers.reference import laplace_bins

ALPHA = 1e-9
OUTSIDE = ([7.0], [7.0])
"""The points of somebody who is nowhere near the unit square: only noise is left of their contribution."""

CORNER = ([0.03], [0.03])
MODELS = ["servers", "shuffle"]
each_model = pytest.mark.parametrize("model", MODELS)
also_local = pytest.mark.parametrize("model", [*MODELS, "local"])


FEW: dict[str, Any] = {"epsilon": 1, "n_min": 3, "n_max": 6}


def server_terms(depth: int = 2, **options: Any) -> ServerTerms:
    """Terms with servers on the unit square, for few people."""
    return ServerTerms.of(Domain.unit(depth), **{**FEW, **options})


def shuffle_terms(depth: int = 2, **options: Any) -> ShuffleTerms:
    """Terms of the shuffle model on the unit square, for few people."""
    return ShuffleTerms.of(Domain.unit(depth), **{"delta": Fraction(1, 100), "units": 16, **FEW, **options})


def terms_of(model: str, depth: int = 2, **options: Any) -> ServerTerms | ShuffleTerms:
    """Terms on the unit square, for few people."""
    return server_terms(depth, **options) if model == "servers" else shuffle_terms(depth, **options)


def local_terms(depth: int = 2, **options: Any) -> LocalTerms:
    """Terms of the local model on the unit square, for few people."""
    return LocalTerms.of(Domain.unit(depth), **{"epsilon": 16, "n_min": 3, "n_max": 6, "depth": depth, **options})


def laplace_p_value(noise: Ints, rate: Fraction) -> float:
    """The p-value of the test that these are draws of the discrete Laplace law of that rate."""
    edges, law = laplace_bins(rate, len(noise), 150)
    return chi_square(np.bincount(np.searchsorted(edges, noise, side="right"), minlength=len(law)), np.array(law))


def client_of(collection: Collection, ticket: str) -> Client:
    """A device that knows all parties, and takes part once."""
    return Client(collection, ticket, parties=[party.key for party in collection.parties], account=None)


def numbers_of(content: bytes, cells: int) -> NDArray[np.uint64]:
    """A share as numbers: a vector as it is, or the stream of a seed."""
    if len(content) < 8 * cells:
        content = Cipher(AES256(content), CTR(bytes(16))).encryptor().update(bytes(8 * cells))
    return np.frombuffer(content, "<u8")


class Wires(Network):
    """A network without wires: requests reach the roles of this process, unless they are down."""

    def __init__(self) -> None:
        super().__init__(patience=0.0)
        self.roles: dict[Party, Role | None] = {}

    def deliver(self, party: Party, path: str, body: bytes) -> None:
        try:
            self._take(party, path, body)
        except Refused as refusal:
            raise DataError(str(refusal)) from refusal
        except ConnectionError as error:
            raise UnreachableError("nobody is there") from error

    def offer(self, party: Party, path: str, body: bytes) -> bool:
        try:
            self._take(party, path, body)
        except (Refused, ConnectionError):
            return False
        return True

    def fetch(self, party: Party, path: str) -> bytes | None:
        role = self.roles.get(party)
        if role is None:
            return None
        try:
            return served(role, path)
        except Refused as refusal:
            if refusal.status == 410:
                raise PrivacyRefusal(str(refusal)) from refusal
            return None

    def _take(self, party: Party, path: str, body: bytes) -> None:
        role = self.roles.get(party)
        if role is None:
            raise ConnectionError
        if path == "/close":
            assert isinstance(role, Receiver)
            role.close(body)
        else:
            assert isinstance(role, Receiver | Analyser)
            role.accept(body)


def served(role: Role, path: str) -> bytes:
    """What a role answers to a request for a path."""
    if path == "/entries" and isinstance(role, Server):
        return role.entries()
    if path.startswith("/answers/") and isinstance(role, Server):
        _, _, number, digest = path.split("/")
        return role.answer(int(number), digest)
    assert path == "/sum"
    return role.outcome()


class Cast:
    """All roles of a collection in one process, each with its own state."""

    playing: ClassVar[list[Cast]] = []

    def __init__(self, folder: Path, terms: AnyTerms, *, seconds: float = 3600) -> None:
        self.folder, self.operator, self.network = folder, PrivateKey.make(), Wires()
        self.keys = [PrivateKey.make() for _ in terms.roles]
        parties = {f"https://127.0.0.1:{8000 + i}": key.public for i, key in enumerate(self.keys)}
        closes = datetime.now(UTC) + timedelta(seconds=seconds)
        self.collection = Collection.open(terms, parties, closes, self.operator)
        self.tickets = make_tickets(self.collection, self.operator, terms.n_max + 5)
        self.playing.append(self)
        for number in range(len(self.keys)):
            self.start(number)

    def start(self, number: int) -> None:
        """Start a role, or start it again with what it wrote down."""
        self.stop(number)
        name = self.collection.roles[number]
        state = State(self.folder / f"{number}.state", self.collection, name)
        role = kind_of(name.split()[0], self.collection)(self.collection, self.keys[number], state, self.network)
        self.network.roles[self.collection.parties[number]] = role

    def stop(self, number: int) -> None:
        role = self.network.roles.get(self.collection.parties[number])
        if role is not None:
            role.state.close()
        self.network.roles[self.collection.parties[number]] = None

    def role(self, number: int) -> Any:
        return self.network.roles[self.collection.parties[number]]

    def client(self, number: int) -> Client:
        return client_of(self.collection, self.tickets[number])

    def send(self, number: int, x: Any, y: Any) -> None:
        client = self.client(number)
        client.send(client.contribution(x, y), self.network)

    def crowd(self, people: int) -> None:
        """So many people, all of them in the corner, send."""
        for number in range(people):
            self.send(number, *CORNER)

    def close(self) -> None:
        close_early(self.collection, self.operator, self.network)

    def steps(self, rounds: int = 25) -> None:
        """Let everybody who is up do what they can."""
        for _ in range(rounds):
            for role in self.network.roles.values():
                if role is not None:
                    role.step()

    def end(self) -> None:
        """Close it, and let everybody finish."""
        self.close()
        self.steps()

    def result(self) -> Release:
        bodies = [self.network.fetch(party, "/sum") for party in publishers(self.collection)]
        return combine_sums(self.collection, [body or b"" for body in bodies])


def refusal_of(role: Any, body: bytes) -> tuple[int, str]:
    """What a role answers to something that it does not take."""
    with pytest.raises(Refused) as refusal:
        role.accept(body)
    return refusal.value.status, str(refusal.value)


def cast(folder: Path, model: str, **options: Any) -> Cast:
    """The parties of a small collection, with little noise."""
    if model == "local":
        return Cast(folder, local_terms(**options))
    return Cast(folder, terms_of(model, **{"epsilon": 16, "units": 2**10, **options}))
