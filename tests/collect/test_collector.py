"""The server of the local model: it counts each report once, refuses what is none, and forgets nothing in a restart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.collect import collector as collector_module
from dpheatmap.collect.client import NONCE, contribution_info
from dpheatmap.collect.collection import terms_of
from dpheatmap.collect.local import LocalTerms, Report, report, report_of
from dpheatmap.collect.tally import Tally
from dpheatmap.collect.tickets import SIZE, ticket_bytes
from dpheatmap.collect.web_process import kind_of
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.testing import SeededSource
from helpers.collecting import Cast, local_terms, refusal_of

TERMS = local_terms(7, epsilon=2, n_max=40)
"""Levels 2 to 7: direct answers on the first, unary ones, and on the last level Hadamard's."""
PEOPLE: list[list[float]] = [[0.1], [0.1, 0.9], [], [7.0], *([[0.6]] * 20)]


def expected(numbers: range) -> Release:
    """The release of the reports that the same devices make, without any network."""
    tally = Tally(TERMS)
    tally.add_all([report(TERMS, PEOPLE[k], PEOPLE[k], SeededSource(k)) for k in numbers])
    return tally.release()


def send(stage: Cast, numbers: range) -> None:
    for number in numbers:
        client = stage.client(number)
        points = PEOPLE[number]
        client.send(client.contribution(points, points, SeededSource(number)), stage.network)


def same(a: Release, b: Release) -> bool:
    one, other = a.measurements, b.measurements
    assert one.deviations is not None
    assert other.deviations is not None
    return np.array_equal(one.counts, other.counts) and np.array_equal(one.deviations, other.deviations)


def test_the_release_is_that_of_the_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_module, "_AT_ONCE", 7)
    stage = Cast(tmp_path, TERMS)
    send(stage, range(24))
    stage.steps()
    assert stage.role(0).phase() == "open"
    stage.end()
    release = stage.result()
    assert same(release, expected(range(24)))
    assert (release.trust.who, release.trust.participants) == ("nobody", 24)
    assert release.noise.family == "Gaussian"
    assert stage.role(0).state.count_contributions() == 0, "reports are deleted"


def test_a_report_that_is_counted_twice_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: of every thousand reports the last is read again."""
    rows = collector_module.Collector._tally

    def twice(self: Any) -> Tally:
        tally = rows(self)
        tally.add(Report.from_padded_bytes(self.state.rows("SELECT content FROM contributions")[-1][0], TERMS))
        return tally

    monkeypatch.setattr(collector_module.Collector, "_tally", twice)
    stage = Cast(tmp_path, TERMS)
    send(stage, range(5))
    stage.end()
    assert not same(stage.result(), expected(range(5)))


def test_restarts_lose_no_report_and_change_no_tally(tmp_path: Path) -> None:
    stage = Cast(tmp_path, TERMS)
    for number in range(6):
        client = stage.client(number)
        bodies = client.contribution(PEOPLE[number], PEOPLE[number], SeededSource(number))
        for _ in range(2):  # a device that got no answer says the same again
            client.send(bodies, stage.network)
            stage.start(0)
    stage.close()
    stage.start(0)
    stage.steps()
    published = stage.role(0).outcome()
    stage.start(0)
    stage.steps()
    assert stage.role(0).outcome() == published
    assert same(stage.result(), expected(range(6)))


def test_what_is_sealed_but_no_report_is_refused(tmp_path: Path) -> None:
    stage = Cast(tmp_path, TERMS)
    role, ticket, nonce = stage.role(0), ticket_bytes(stage.tickets[0]), bytes(NONCE)
    good = report(TERMS, [0.5], [0.5]).to_padded_bytes(TERMS)
    rubbish = [b"\xff" * len(good), bytes(len(good)), b"\x09" + good[1:], bytes([2, 0, 0]).ljust(len(good), b"\1")]
    for text in rubbish:
        sealed = stage.collection.parties[0].key.seal(text, contribution_info(stage.collection, ticket, nonce))
        status, sentence = refusal_of(role, ticket + nonce + sealed)
        assert (status, sentence.split(".")[0]) == (400, "A report is not one of this collection")
    body = stage.client(0).contribution([0.5], [0.5])[0]
    others = stage.client(1).contribution([0.5], [0.5])[0]
    assert refusal_of(role, body[: SIZE + NONCE] + others[SIZE + NONCE :])[0] == 400, "another's report"
    assert role.state.count_contributions() == 0
    role.accept(body)
    assert role.state.count_contributions() == 1


@given(st.binary(min_size=TERMS.payload_bytes, max_size=TERMS.payload_bytes) | st.just(b"\x02"))
def test_a_report_is_written_in_one_way_only(text: bytes) -> None:
    try:
        found = Report.from_padded_bytes(text, TERMS)
    except DataError:
        return
    assert found.to_padded_bytes(TERMS) == text.ljust(TERMS.payload_bytes, b"\0")


def test_every_report_survives_the_way() -> None:
    for seed in range(60):
        made = report(TERMS, [0.2], [0.7], SeededSource(seed))
        assert Report.from_padded_bytes(made.to_padded_bytes(TERMS), TERMS) == made


def test_a_contribution_is_made_once_and_kept(tmp_path: Path) -> None:
    """A second report would cost epsilon again: what was kept is what is sent, and of nobody else."""
    stage = Cast(tmp_path, TERMS)
    client, file = stage.client(0), tmp_path / "mine"
    assert client.kept(file) is None
    bodies = client.contribution([0.5], [0.5])
    client.keep(bodies, file)
    assert client.kept(file) == bodies
    assert file.stat().st_mode & 0o077 == 0, "there is a ticket in it"
    with pytest.raises(DataError, match="mine is not a contribution of this ticket to this collection"):
        stage.client(1).kept(file)
    for strange in (b"", bodies[0][:-1], bodies[0] + b"!"):
        file.write_bytes(strange)
        with pytest.raises(DataError, match="is not a contribution of this ticket"):
            client.kept(file)
    with pytest.raises(DataError, match="can't be read"):
        client.kept(tmp_path)


def test_of_two_runs_at_the_same_time_both_send_one_report(tmp_path: Path) -> None:
    """Each found no file and made a report: even a server that refuses the second would have seen it."""
    client, file = Cast(tmp_path, TERMS).client(0), tmp_path / "mine"
    made = [client.contribution([0.5], [0.5]) for _ in range(8)]
    together = Barrier(len(made))

    def run(bodies: list[bytes]) -> list[bytes]:
        together.wait()
        return client.keep(bodies, file)

    with ThreadPoolExecutor(len(made)) as pool:
        sent = list(pool.map(run, made))
    assert sent[0] in made
    assert all(bodies == sent[0] for bodies in sent)
    assert client.kept(file) == sent[0]
    assert [path.name for path in tmp_path.iterdir() if "mine" in path.name] == ["mine"], "and no temporary is left"


@pytest.mark.parametrize("weights", [[0], [0, 0], []])
def test_who_has_no_weight_answers_for_nothing(weights: list[int], tmp_path: Path) -> None:
    """A device that never came to an end for them would tell by its silence."""
    table = {"x": np.full(len(weights), 0.5), "y": np.full(len(weights), 0.5), "w": np.array(weights, dtype=np.int64)}
    counts = dph.aggregate(table, TERMS.domain, x="x", y="y", weight="w", each_row_is_a_person=True)
    client = Cast(tmp_path, TERMS).client(0)
    assert len(client.contribution_of(counts)[0]) == len(client.contribution([], [])[0])
    sent = report_of(TERMS, counts.codes, np.diff(counts.sums), SeededSource(3))
    assert sent == report(TERMS, [], [], SeededSource(3))


def test_counts_of_another_place_are_refused(tmp_path: Path) -> None:
    one = np.ones(1, dtype=np.int64)
    elsewhere = dph.Counts.from_cells(Domain.unit(6), one, one, one)
    with pytest.raises(ParameterError, match="Counts must be of the collection's domain"):
        Cast(tmp_path, TERMS).client(0).contribution_of(elsewhere)


def test_the_local_model_has_one_party_and_no_delta() -> None:
    terms = terms_of("local", Domain.unit(3), epsilon=1, n_min=5, n_max=9, delta=None, units=None, servers=None)
    assert isinstance(terms, LocalTerms)
    assert terms.roles == ("server",)
    with pytest.raises(ParameterError, match="The local model has no delta or units"):
        terms_of("local", Domain.unit(3), epsilon=1, n_min=5, n_max=9, delta="1e-6", units=256)
    with pytest.raises(ParameterError, match="n_min must be at most n_max"):
        terms_of("local", Domain.unit(3), epsilon=1, n_min=10, n_max=9)


def test_each_model_has_its_own_server(tmp_path: Path) -> None:
    stage = Cast(tmp_path, TERMS)
    assert kind_of("server", stage.collection) is collector_module.Collector
    with pytest.raises(TypeError, match="not a collection with servers"):
        _ = stage.collection.served
    with pytest.raises(TypeError, match="not a collection of the shuffle model"):
        _ = stage.collection.shuffled
