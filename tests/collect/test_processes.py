"""Real processes over HTTPS: killed and started again in the middle, with devices that fail and strangers."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.collect.client import NONCE, contribution_info
from dpheatmap.collect.collection import AnyTerms, Collection, Party
from dpheatmap.collect.collection_result import fetch_release
from dpheatmap.collect.demo import Stage
from dpheatmap.collect.keys import PrivateKey
from dpheatmap.collect.local import LocalTerms, Report
from dpheatmap.collect.network import Network, UnreachableError
from dpheatmap.collect.tally import Tally
from dpheatmap.collect.tickets import SIZE
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.releases.release import Release
from helpers.collecting import local_terms, terms_of

DEVICES = 15
AWAY = (3, 7, 11)
"""A fifth of the devices: they got a ticket and were never heard of again."""


def place(number: int) -> tuple[list[float], list[float]]:
    """A third of the people is in one corner, the others in the opposite one."""
    return ([0.1], [0.1]) if number % 3 == 0 else ([0.9, 0.95], [0.9, 0.95])


def send(stage: Stage, numbers: Iterable[int]) -> None:
    for number in numbers:
        if number not in AWAY:
            device = stage.device(number)
            device.send(device.contribution(*place(number)), stage.network)


def in_the_background(stage: Stage, numbers: Iterable[int]) -> threading.Thread:
    thread = threading.Thread(target=send, args=(stage, numbers))
    thread.start()
    return thread


def shout(stage: Stage) -> None:
    """What strangers send: rubbish of all sizes, forged orders, and contributions of a wrong kind."""
    party = stage.collection.parties[0]
    right_size = len(stage.device(0).contribution([], [])[0])
    for path in ("/contributions", "/close", "/batches", "/entries", "/sum", "/nothing"):
        for body in (b"", b"\xff" * 100, os.urandom(right_size), os.urandom(right_size + 1)):
            assert not stage.network.offer(party, path, body)
    again = stage.device(0)  # has sent already
    with pytest.raises(DataError, match="refused it: This ticket was used"):
        again.send(again.contribution([0.5], [0.5]), stage.network)


def check(release: Release, expected: dict[int, int]) -> None:
    """Noise beyond 3 people has a probability below 1e-9: the scale of a Laplace is 0.11 here, or 0.09 twice."""
    codes, counts = release.measurements.at(2)
    for cell, people in expected.items():
        assert abs(counts[codes == cell][0] / release.units - people) < 3


@pytest.mark.parametrize("model", ["servers", "shuffle"])
def test_a_collection_survives_kills_dropouts_and_garbage(model: str, tmp_path: Path) -> None:
    depth, epsilon = (5, 30) if model == "servers" else (3, 16)
    terms = terms_of(model, depth, epsilon=epsilon, n_min=9, n_max=20, units=2**10)
    with Stage(tmp_path, terms, tickets=DEVICES) as stage:
        send(stage, range(4))
        stage.kill(0)
        sending = in_the_background(stage, range(4, DEVICES))  # the devices try again until it is back
        stage.start(0)
        stage.kill(1)
        stage.start(1)
        sending.join()
        shout(stage)
        stage.close()
        stage.kill(0)  # right after closing, while they talk to each other
        stage.start(0)
        release = stage.result()
        assert np.array_equal(stage.result().measurements.counts, release.measurements.counts)
    there = [number for number in range(DEVICES) if number not in AWAY]
    assert release.trust.participants == len(there)
    corner = sum(number % 3 == 0 for number in there)
    check(release, {0: corner, 15: len(there) - corner, 5: 0})
    assert release.heatmap(size=8).values[-1, -1] > 0.2
    for number in (0, 1):
        assert "Traceback" not in (stage.folder_of(number) / "log").read_text()


def test_too_few_devices_are_a_clear_refusal(tmp_path: Path) -> None:
    with Stage(tmp_path, terms_of("shuffle", n_min=9, n_max=20), tickets=DEVICES) as stage:
        send(stage, range(5))
        stage.close()
        with pytest.raises(PrivacyRefusal, match="closed with 4 contributions and needs 9: nothing is published"):
            stage.result()
        with pytest.raises(DataError, match="The collection is closed"):
            send(stage, [5])
        with pytest.raises(DataError, match=r"The certificate of https://127\.0\.0\.1:\d+ can't be trusted: "):
            Network().deliver(stage.collection.parties[0], "/contributions", b"")
        plain = Party(stage.collection.parties[0].address.replace("https", "http"), stage.operator.public)
        with pytest.raises(UnreachableError, match="does not answer"):
            Network(patience=0).deliver(plain, "/contributions", b"")


class Desk:
    """Commands typed in one folder, and what they answer."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], roles: tuple[str, ...], terms: AnyTerms
    ) -> None:
        self.folder, self._capsys, self._roles = folder, capsys, roles
        self.stage = Stage(folder, terms, tickets=0)  # for its certificates, and addresses that are free
        self.keys = {name: self.done("key", self.at(f"{name}.key")) for name in ("operator", *roles)}
        self.operator = ["--operator", self.keys["operator"]]
        self.trust = ["--authority", self.at("authority.pem")]
        self.known = [word for name in roles for word in ("--party", self.keys[name])]
        self.done("limit", "1000", "--account", self.at("account"))

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def done(self, *words: str, code: int = 0) -> str:
        """The answer to a command, or the error of one that fails."""
        assert run(["collect", *words]) == code
        out, err = self._capsys.readouterr()
        return out.strip() if code == 0 else err.strip()

    def open(self, settings: str, closes: str = "2099-01-01T00:00:00Z", code: int = 0) -> str:
        addresses = zip(self.stage.collection.parties, self._roles, strict=True)
        parties = [word for party, name in addresses for word in ("--party", party.address, self.keys[name])]
        rest = ["--key", self.at("operator.key"), "--tickets", self.at("tickets"), *parties, "-o", self.at("c.json")]
        return self.done("open", *settings.split(), "--closes", closes, *rest, code=code)

    def start(self, number: int, *more: str) -> None:
        name = self._roles[number]
        own = ["--key", self.at(f"{name}.key"), "--state", self.at(f"{name}.state")]
        self.stage.run_command(number, [name, self.at("c.json"), *self.operator, *own, *more])

    def client(self, ticket: str, *more: str, code: int = 0) -> str:
        columns = ["--ticket", ticket, "--x", "lon", "--y", "lat", *self.trust, "--account", self.at("account")]
        files = [self.at("c.json"), self.at("mine.csv")]
        return self.done("client", *files, *self.operator, *self.known, *columns, *more, code=code)

    def close(self) -> None:
        self.done("close", self.at("c.json"), "--key", self.at("operator.key"), *self.trust)

    def result(self) -> Release:
        outputs = [self.at("r.dph.parquet"), self.at("map.png")]
        chosen = [word for output in outputs for word in ("-o", output)]
        assert self.done("result", self.at("c.json"), *self.operator, *self.trust, *chosen).split() == outputs
        assert (self.folder / "map.png").stat().st_size > 10_000
        return dph.load(outputs[0])


def test_everything_by_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From keys to a map, as the guide says; the analyser writes the release, too."""
    desk = Desk(tmp_path, capsys, ("shuffler", "analyser"), terms_of("shuffle"))
    settings = "--model shuffle --epsilon 16 --delta 0.01 --n-min 3 --n-max 6 --units 1024 --unit --depth 2"
    assert desk.open(settings) == desk.at("c.json")
    assert "takes a time such as" in desk.open(settings, "soon", code=2)
    assert "is there already" in desk.done("key", desk.at("operator.key"), code=2)
    tickets = (tmp_path / "tickets").read_text().split()
    assert len(tickets) == 6
    with ExitStack() as stack:
        stack.callback(desk.stage.stop)
        desk.start(0)
        desk.start(1, "-o", desk.at("made.dph.parquet"))
        (tmp_path / "mine.csv").write_text("lon,lat\n0.1,0.1\n0.12,0.1\nnan,3\n")
        for ticket in tickets[:4]:
            assert desk.client(ticket) == "Sent."
        wrong = desk.done("close", desk.at("c.json"), "--key", desk.at("analyser.key"), code=3)
        assert "not a collection that the operator" in wrong
        desk.close()
        release = desk.result()
    made = dph.load(desk.at("made.dph.parquet"))
    check(release, {0: 4})
    assert np.array_equal(release.measurements.counts, made.measurements.counts)
    assert "delta = 0.01" in release.label["how_strongly"]


def test_a_process_that_cannot_listen_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is said to listen before it does: not at a port that is taken, and not with half a certificate."""
    desk = Desk(tmp_path, capsys, ("server",), local_terms())
    settings = "--model local --epsilon 2 --n-min 3 --n-max 6 --unit --depth 2"
    assert "--closes must be a time to come; it was 2020-01-01" in desk.open(settings, "2020-01-01T00:00:00Z", code=2)
    desk.open(settings)
    words = ["server", desk.at("c.json"), *desk.operator, "--key", desk.at("server.key"), "--state", desk.at("state")]
    port = urlsplit(desk.stage.collection.parties[0].address).port
    with socket.create_server(("127.0.0.1", port or 0)) as taken:
        said = desk.done(*words, code=1)
        assert f"\nError: Nothing can listen at 127.0.0.1:{port}: Address already in use. Stop what" in said
        said = desk.done(*words, "--certificate", desk.at("certificate.pem"), code=3)
        assert "certificate.pem and its key are no certificate that can be used" in said
        answering = threading.Thread(target=answer_without_tls, args=(taken,))
        answering.start()
        with pytest.raises(DataError, match="does not speak https"):
            desk.stage.network.deliver(desk.stage.collection.parties[0], "/contributions", b"")
        answering.join()
    with pytest.raises(UnreachableError, match="and nobody answers there"):
        fetch_release(desk.stage.collection, Network(patience=0))
    wrong = desk.done(*words[:-4], "--key", desk.at("operator.key"), *words[-2:], code=3)
    assert "This is not the key of a server of this collection" in wrong


def answer_without_tls(listening: socket.socket) -> None:
    """One connection: hear what is said, answer in plain HTTP, and wait until the other side hangs up."""
    connection, _ = listening.accept()
    with connection, suppress(ConnectionError):
        connection.recv(2**16)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        while connection.recv(2**16):
            pass


def opened_report(desk: Desk, terms: LocalTerms, kept: Path) -> Report:
    """The report in a file that a device kept, read with the server's key."""
    body, collection = kept.read_bytes(), Collection.read(desk.at("c.json"), desk.keys["operator"])
    ticket, nonce, sealed = body[:SIZE], body[SIZE : SIZE + NONCE], body[SIZE + NONCE :]
    text = PrivateKey.read(desk.at("server.key")).opener(contribution_info(collection, ticket, nonce))(sealed)
    return Report.from_padded_bytes(text, terms)


def test_the_local_model_by_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One report a device, kept and sent again as it was; the server is killed twice, and strangers shout at it."""
    terms = local_terms(epsilon=2)
    desk = Desk(tmp_path, capsys, ("server",), terms)
    settings = "--model local --epsilon 2 --n-min 3 --n-max 6 --unit --depth 2"
    assert "The local model has no units" in desk.open(f"{settings} --units 256", code=2)
    desk.open(settings)
    tickets = (tmp_path / "tickets").read_text().split()
    (tmp_path / "mine.csv").write_text("lon,lat\n0.1,0.1\n0.12,0.1\nnan,3\n")
    assert "needs --keep FILE" in desk.client(tickets[0], code=2)
    kept = [tmp_path / f"report {number}" for number in range(4)]
    with ExitStack() as stack:
        stack.callback(desk.stage.stop)
        assert desk.client(tickets[0], "--keep", str(kept[0]), "--later") == "Kept.", "nobody listens yet"
        before = kept[0].read_bytes()
        desk.start(0)
        for ticket, file in zip(tickets, kept, strict=False):
            assert desk.client(ticket, "--keep", str(file)) == "Sent."
        desk.stage.kill(0)
        desk.start(0)
        assert desk.client(tickets[0], "--keep", str(kept[0])) == "Sent.", "the same report again"
        assert kept[0].read_bytes() == before
        fresh = desk.client(tickets[0], "--keep", desk.at("another report"), code=3)
        assert "refused it: This ticket was used for another contribution" in fresh
        stranger = desk.client(tickets[1], "--keep", str(kept[0]), code=3)
        assert "is not a contribution of this ticket" in stranger
        party = desk.stage.collection.parties[0]
        for body in (b"", b"\xff" * 100, os.urandom(len(before)), before + b"!"):
            assert not desk.stage.network.offer(party, "/contributions", body)
        desk.close()
        desk.stage.kill(0)  # right after closing
        desk.start(0)
        release = desk.result()
    tally = Tally(terms)
    tally.add_all([opened_report(desk, terms, file) for file in kept])
    assert np.array_equal(release.measurements.counts, tally.release().measurements.counts)
    assert release.trust.participants == 4
    assert release.label["trusted"].startswith("Nobody")
    assert "Traceback" not in (desk.stage.folder_of(0) / "log").read_text()
