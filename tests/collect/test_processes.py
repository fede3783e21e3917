"""Real processes over HTTPS: killed and started again in the middle, with devices that fail and strangers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import dpheatmap as dph
from collecting import terms_of
from dpheatmap.cli import run
from dpheatmap.collect.demo import Stage
from dpheatmap.collect.network import Network, UnreachableError
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.release import Release

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
    assert release.mechanism.participants == len(there)
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
        with pytest.raises(UnreachableError, match="does not answer"):
            Network(patience=0).deliver(stage.collection.parties[0], "/contributions", b"")  # a stranger's certificate


def test_everything_by_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From keys to a map, as the guide says; the analyser writes the release, too."""

    def at(name: str) -> str:
        return str(tmp_path / name)

    def done(*words: str, code: int = 0) -> str:
        assert run(["collect", *words]) == code
        out, err = capsys.readouterr()
        return out.strip() if code == 0 else err.strip()

    stage = Stage(tmp_path, terms_of("shuffle"), tickets=0)  # for its certificates, and addresses that are free
    names = ("shuffler", "analyser")
    keys = {name: done("key", at(f"{name}.key")) for name in ("operator", *names)}
    parties = [
        word
        for party, name in zip(stage.collection.parties, names, strict=True)
        for word in ("--party", party.address, keys[name])
    ]
    settings = "--model shuffle --epsilon 16 --delta 0.01 --n-min 3 --n-max 6 --units 1024 --unit --depth 2 --closes"
    rest = ["--key", at("operator.key"), "--tickets", at("tickets"), *parties, "-o", at("c.json")]
    assert done("open", *settings.split(), "2099-01-01T00:00:00Z", *rest) == at("c.json")
    assert "takes a time such as" in done("open", *settings.split(), "soon", *rest, code=2)
    tickets = (tmp_path / "tickets").read_text().split()
    assert len(tickets) == 6
    operator, trust = ["--operator", keys["operator"]], ["--authority", at("authority.pem")]
    with ExitStack() as stack:
        stack.callback(stage.stop)
        for number, name in enumerate(names):
            own = ["--key", at(f"{name}.key"), "--state", at(f"{name}.state")]
            written = ["-o", at("made.dph.parquet")] if name == "analyser" else []
            stage.run_command(number, [name, at("c.json"), *operator, *own, *written])
        (tmp_path / "mine.csv").write_text("lon,lat\n0.1,0.1\n0.12,0.1\nnan,3\n")
        for ticket in tickets[:4]:
            columns = ["--ticket", ticket, "--x", "lon", "--y", "lat"]
            assert done("client", at("c.json"), at("mine.csv"), *operator, *columns, *trust) == "Sent."
        assert "not a collection that the operator" in done("close", at("c.json"), "--key", at("analyser.key"), code=3)
        done("close", at("c.json"), "--key", at("operator.key"), *trust)
        outputs = [at("r.dph.parquet"), at("map.png")]
        chosen = [word for output in outputs for word in ("-o", output)]
        assert done("result", at("c.json"), *operator, *trust, *chosen).split() == outputs
    release, made = (dph.load(at(f"{name}.dph.parquet")) for name in ("r", "made"))
    check(release, {0: 4})
    assert np.array_equal(release.measurements.counts, made.measurements.counts)
    assert "delta = 0.01" in release.label["how_strongly"]
    assert (tmp_path / "map.png").stat().st_size > 10_000
