"""The guide's ten commands, as they stand there: two organisations, real TLS, from keys to a map."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.collect.certificates import make_certificates
from helpers import ROOT
from helpers.served import PATIENCE

GUIDE = ROOT / "docs/guides/collect.md"


def commands() -> list[str]:
    block = re.search(r"<!-- ten commands -->\n```bash\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert block
    found = [line for line in block[1].splitlines() if not line.startswith("#")]
    assert len(found) == 10
    return found


class Town:
    """The folders of two organisations, a few devices, and everybody; and what stands for names in the guide."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self._capsys, self._patch = folder, capsys, patch
        self.names = {"0.0.0.0": "127.0.0.1", "--n-min 1000": "--n-min 3", "--resolution 200": "--resolution 2000"}
        authorities = b""
        for name in ("town", "university"):
            (folder / name).mkdir()
            made = make_certificates(folder / name, "localhost")
            made.certificate.rename(folder / name / f"{name}.pem")
            made.key.rename(folder / name / f"{name}.pem.key")
            authorities += made.authority.read_bytes()
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.names[f"https://{name}.example:8443"] = f"https://localhost:{free.getsockname()[1]}"
        (folder / "authorities.pem").write_bytes(authorities)

    def words(self, command: str, *, trusting: bool = True) -> list[str]:
        for name, value in self.names.items():
            command = command.replace(name, value)
        program, *rest = shlex.split(command)
        assert program == "dpheatmap"
        more = ["--authority", str(self.folder / "authorities.pem")] if trusting else []
        return [*rest, *more]

    def run(self, who: str, command: str, *, trusting: bool = True) -> str:
        """Type a command in somebody's folder."""
        self._patch.chdir(self.folder / who)
        self._patch.setenv("XDG_DATA_HOME", str(self.folder / who / "data"))
        self._capsys.readouterr()
        assert run(self.words(command, trusting=trusting)) == 0
        return self._capsys.readouterr().out.strip()

    @contextmanager
    def running(self, who: str, command: str) -> Iterator[None]:
        """A server, once it listens."""
        log = self.folder / who / "log"
        with log.open("wb") as file:
            words = [sys.executable, "-m", "dpheatmap", *self.words(command)]
            process = subprocess.Popen(words, cwd=self.folder / who, stdout=file, stderr=file)
        try:
            end = time.monotonic() + PATIENCE
            while b"listens at" not in log.read_bytes():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end
                time.sleep(0.1)
            yield
        finally:
            process.kill()
            process.wait()


def test_the_ten_commands_of_the_guide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (key_1, key_2, opening, server_1, server_2, show, limit, client, close, result) = commands()
    town = Town(tmp_path, capsys, monkeypatch)
    keys = {name.upper(): town.run(name, key, trusting=False) for name, key in (("town", key_1), ("university", key_2))}
    town.names |= keys
    town.run("town", opening, trusting=False)
    devices = ["anna", "bea", "carl", "dora"]
    for who in (*devices, "anybody", "university"):
        (tmp_path / who).mkdir(exist_ok=True)
        (tmp_path / who / "collection.json").write_bytes((tmp_path / "town/collection.json").read_bytes())
    tickets = (tmp_path / "town/tickets.txt").read_text().split()
    with town.running("town", server_1), town.running("university", server_2):
        assert "It needs up to" in (tmp_path / "town/log").read_text()
        for who, ticket in zip(devices, tickets, strict=False):
            (tmp_path / who / "mine.csv").write_text("lon,lat\n7.41,46.95\n7.42,46.96\n")
            if who == "anna":
                assert town.run(who, show, trusting=False).count(", known to this device") == 2
            town.run(who, limit, trusting=False)
            assert town.run(who, client.replace("TICKET", ticket)) == "Sent."
        assert town.run("anna", client.replace("TICKET", tickets[0])) == "Sent.", "the same bytes again"
        assert town.run("anna", "dpheatmap collect limit", trusting=False) == "Limit 4; 2 spent, 2 left."
        asked = town.run("town", "dpheatmap collect status collection.json --operator TOWN --key town.key")
        assert asked.splitlines() == ["server 1: open, 4 of at least 3", "server 2: open, 4 of at least 3"]
        town.run("town", close)
        town.run("anybody", result)
    assert (
        dph.load(tmp_path / "anybody/town.dph.parquet").trust == dph.load(tmp_path / "anybody/town.dph.parquet").trust
    )
    assert dph.load(tmp_path / "anybody/town.dph.parquet").trust.participants == 4
    assert (tmp_path / "anybody/map.html").stat().st_size > 10_000
