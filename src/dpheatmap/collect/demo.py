"""A whole demo collection on this machine: devices, and for every party a process with its own folder, over HTTPS."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

import numpy as np

from dpheatmap.collect.certificates import make_certificates
from dpheatmap.collect.client import Client, body_size
from dpheatmap.collect.collection import AnyTerms, Collection, terms_of
from dpheatmap.collect.collection_result import fetch_release
from dpheatmap.collect.keys import PrivateKey
from dpheatmap.collect.network import Network, UnreachableError
from dpheatmap.collect.receiver import close_early
from dpheatmap.collect.tickets import make_tickets
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.release import Release
from dpheatmap.testing import CITY, generated_people

FINE, COARSE = 200, 2000  # metres
_PATIENCE = 300.0  # seconds, on a machine that is busy with other things


class Stage:
    """A collection with its operator and the processes of its parties, which can be killed and started again."""

    def __init__(self, folder: Path, terms: AnyTerms, *, tickets: int, hours: float = 1.0) -> None:
        self._folder = folder
        self._certificates = make_certificates(folder)
        self.network = Network(self._certificates.authority, patience=_PATIENCE)
        self.operator = PrivateKey.make()
        keys = [PrivateKey.make() for _ in terms.roles]
        addresses = [f"https://127.0.0.1:{port}" for port in _free_ports(len(keys))]
        parties = {address: key.public for address, key in zip(addresses, keys, strict=True)}
        closes = datetime.now(UTC) + timedelta(hours=hours)
        self.collection = Collection.open(terms, parties, closes, self.operator)
        self.tickets = make_tickets(self.collection, self.operator, tickets)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        for number, key in enumerate(keys):
            own = self.folder_of(number)
            own.mkdir()
            key.save(own / "private.key")
            self.collection.save(own / "collection.json")

    def folder_of(self, number: int) -> Path:
        """The folder of a party's files."""
        return self._folder / self.collection.roles[number].replace(" ", "-")

    def start(self, number: int) -> None:
        """Start the process of a party, and wait until it answers."""
        own, role = self.folder_of(number), self.collection.roles[number].split()[0]
        files = ["--key", str(own / "private.key"), "--state", str(own / "state")]
        self.run_command(number, [role, str(own / "collection.json"), "--operator", self.operator.public.text, *files])

    def run_command(self, number: int, words: list[str]) -> None:
        """Start a process at the address of a party, and wait until it answers."""
        given = zip(("--authority", "--certificate", "--certificate-key"), self._certificates, strict=True)
        words = [*words, *(str(word) for option in given for word in option)]
        log = self.folder_of(number) / "log"
        with log.open("ab") as file:
            process = subprocess.Popen([sys.executable, "-m", "dpheatmap", "collect", *words], stdout=file, stderr=file)
        self._processes[number] = process
        end = time.monotonic() + _PATIENCE
        while self.network.fetch(self.collection.parties[number], "/status") is None:
            if time.monotonic() > end or process.poll() is not None:
                raise UnreachableError(f"The {words[0]} did not start: {log.read_text()[-500:]}")
            time.sleep(0.1)

    def kill(self, number: int) -> None:
        """Kill the process of a party, in the middle of whatever it does."""
        process = self._processes.pop(number)
        process.kill()
        process.wait()

    def process_of(self, number: int) -> int:
        """The id of a party's process."""
        return self._processes[number].pid

    def stop(self) -> None:
        """Kill all processes."""
        for number in list(self._processes):
            self.kill(number)

    def device(self, number: int) -> Client:
        """One of the devices."""
        keys = [party.key for party in self.collection.parties]
        return Client(self.collection, self.tickets[number], parties=keys, account=None)

    def close(self) -> None:
        """Close the collection, as the operator."""
        close_early(self.collection, self.operator, self.network)

    def result(self) -> Release:
        """The release."""
        return fetch_release(self.collection, self.network)

    def __enter__(self) -> Stage:
        for number in range(len(self.collection.parties)):
            self.start(number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _free_ports(count: int) -> list[int]:
    """Ports of this machine at which nothing listens."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def run_demo(devices: int, model: str, epsilon: str, say: Callable[[str], None]) -> Release:
    """Invent people, let their devices contribute to a collection of that model, and return its release.

    A message of the shuffle model needs a seal of its own, so that model runs on coarse cells only.
    """
    domain = Domain.bbox(*CITY, resolution=COARSE if model == "shuffle" else FINE)
    terms = terms_of(model, domain, epsilon=epsilon, n_min=devices * 4 // 5, n_max=devices)
    with tempfile.TemporaryDirectory() as folder, Stage(Path(folder), terms, tickets=devices) as stage:
        say(f"Listening: {', '.join(stage.collection.roles)}. {terms.tree.size:,} cells, epsilon {terms.epsilon}.")
        size = sum(body_size(stage.collection, number) for number in range(len(stage.collection.receivers)))
        for number, (x, y) in enumerate(_people(devices)):
            device = stage.device(number)
            device.send(device.contribution(x, y), stage.network)
            if (number + 1) % max(50, devices // 10) == 0 or number + 1 == devices:
                say(f"{number + 1} of {devices} devices have sent {size:,} bytes each.")
        stage.close()
        say("The collection is closed; waiting for the result.")
        return stage.result()


def _people(count: int) -> list[tuple[Floats, Floats]]:
    """Generate people of an invented city: the x and y of each."""
    table = generated_people(count, extent=CITY).fetchnumpy()
    order = np.argsort(table["person"], kind="stable")
    cuts = np.flatnonzero(np.diff(table["person"][order])) + 1
    return list(zip(np.split(table["x"][order], cuts), np.split(table["y"][order], cuts), strict=True))
