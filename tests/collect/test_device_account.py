"""A device's own limit: across collections, before anything is sent, whatever is killed or runs at the same time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpheatmap.collect.client import Client
from dpheatmap.collect.collection import Party
from dpheatmap.collect.device_account import Balance, DeviceAccount
from dpheatmap.collect.network import Network, UnreachableError
from dpheatmap.errors import DataError, PrivacyRefusal
from helpers.collecting import CORNER, Cast, cast


class Watched(Network):
    """A network on which it is seen what was spent when something was sent, and which may be down."""

    def __init__(self, account: DeviceAccount, up: bool = True) -> None:
        super().__init__(patience=0.0)
        self._account, self._up = account, up
        self.spent: list[Fraction] = []

    def deliver(self, party: Party, path: str, body: bytes) -> None:
        self.spent.append(self._account.balance().spent)
        if not self._up:
            raise UnreachableError("nobody is there")


def limited(folder: Path, limit: object) -> DeviceAccount:
    account = DeviceAccount(folder / "account")
    account.set_limit(limit)
    return account


def device(stage: Cast, account: DeviceAccount, number: int = 0) -> Client:
    keys = [party.key for party in stage.collection.parties]
    return Client(stage.collection, stage.tickets[number], parties=keys, account=account)


def stages(folder: Path, *epsilons: str) -> list[Cast]:
    folders = [folder / f"stage {number}" for number in range(len(epsilons))]
    for each in folders:
        each.mkdir()
    return [cast(each, "local", epsilon=epsilon) for each, epsilon in zip(folders, epsilons, strict=True)]


def test_collections_add_up_exactly_and_nothing_is_sent_beyond_the_limit(tmp_path: Path) -> None:
    account = limited(tmp_path, "0.3")
    network = Watched(account)
    for stage in stages(tmp_path, "0.1", "0.1", "0.1"):  # floats would add up to more than 0.3
        client = device(stage, account)
        client.send(client.contribution(*CORNER), network)
    (more,) = stages(tmp_path / "stage 0", "0.01")
    client = device(more, account)
    with pytest.raises(
        PrivacyRefusal, match=r"costs an epsilon of 0\.01, and this device has 0 left of its limit of 0\.3"
    ):
        client.send(client.contribution(*CORNER), network)
    assert network.spent == [Fraction(k, 10) for k in (1, 2, 3)], "each before it was sent, and nothing after"
    account.set_limit(1)
    client.send(client.contribution(*CORNER), network)
    assert account.balance() == Balance(Fraction(1), Fraction(31, 100))


def test_the_same_contribution_is_charged_once_and_another_one_again(tmp_path: Path) -> None:
    (stage,) = stages(tmp_path, "1")
    account = limited(tmp_path, 2)
    client = device(stage, account)
    bodies = client.contribution(*CORNER)
    for network in (Watched(account, up=False), Watched(account)):
        try:
            client.send(bodies, network)
        except UnreachableError:
            assert account.balance().spent == 1, "what may have left is paid for"
    device(stage, DeviceAccount(tmp_path / "account")).send(bodies, Watched(account))
    assert account.balance().spent == 1
    client.send(client.contribution(*CORNER), Watched(account))
    with pytest.raises(PrivacyRefusal, match="0 left"):
        client.send(client.contribution(*CORNER), Watched(account))
    client.send(bodies, Watched(account))  # also with nothing left


def test_nothing_leaves_without_a_limit(tmp_path: Path) -> None:
    (stage,) = stages(tmp_path, "1")
    account = DeviceAccount(tmp_path / "account")
    client = device(stage, account)
    with pytest.raises(PrivacyRefusal, match="has no limit yet in account"):
        client.send(client.contribution(*CORNER), Watched(account))
    assert not (tmp_path / "account").exists()
    assert account.balance() == Balance(None, Fraction(0))


def test_of_many_at_a_time_only_as_many_pass_as_there_is_room_for(tmp_path: Path) -> None:
    (stage,) = stages(tmp_path, "1")
    account = limited(tmp_path, 3)

    def charge(number: int) -> bool:
        try:
            DeviceAccount(tmp_path / "account").charge(stage.collection, [bytes([number])])
        except PrivacyRefusal:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(charge, range(12))) == 3
    assert account.balance().spent == 3


KILLED = """
import os, sys
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.device_account import Balance, DeviceAccount
DeviceAccount(sys.argv[1]).charge(Collection.read(sys.argv[2], sys.argv[3]), [b"sent"])
os.kill(os.getpid(), 9)
"""


def test_what_was_charged_stays_charged_if_the_device_is_killed(tmp_path: Path) -> None:
    (stage,) = stages(tmp_path, "1")
    account = limited(tmp_path, 1)
    stage.collection.save(tmp_path / "c.json")
    words = [str(tmp_path / "account"), str(tmp_path / "c.json"), stage.operator.public.text]
    assert subprocess.run([sys.executable, "-c", KILLED, *words], check=False).returncode == -9
    assert account.balance().spent == 1
    account.charge(stage.collection, [b"sent"])
    with pytest.raises(PrivacyRefusal):
        account.charge(stage.collection, [b"another"])


@pytest.mark.parametrize("point", ["BEGIN", "INSERT INTO charges", "COMMIT"])
def test_if_it_can_not_be_written_nothing_is_sent(point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (stage,) = stages(tmp_path, "1")
    account = limited(tmp_path, 1)
    network = Watched(account)

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql.startswith(point):
                raise sqlite3.OperationalError("database or disk is full")
            return super().execute(sql, *values)

    connect = sqlite3.connect
    client = device(stage, account)
    bodies = client.contribution(*CORNER)
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, factory=Failing, **more))
        with pytest.raises(DataError, match="can't be used as a device's account: database or disk is full"):
            client.send(bodies, network)
    assert network.spent == []
    assert account.balance().spent == 0
    client.send(bodies, network)
    assert network.spent == [1]


def test_something_else_is_no_account(tmp_path: Path) -> None:
    (tmp_path / "account").write_text("something else " * 100)
    with pytest.raises(DataError, match="account can't be used as a device's account"):
        DeviceAccount(tmp_path / "account").balance()
    con = sqlite3.connect(tmp_path / "other")
    con.execute("CREATE TABLE notes (text)")
    con.close()
    with pytest.raises(DataError, match="it is something else"):
        DeviceAccount(tmp_path / "other").set_limit(1)
    assert isinstance(DeviceAccount.default_place(), str)
