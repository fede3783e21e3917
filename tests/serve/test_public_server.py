"""The server as strangers and its owner see it: what it refuses to serve, its headers, its limits and its end."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.errors import ParameterError, PrivacyRefusal, ReleaseFileError
from dpheatmap.serve.catalogue import load_again, read_catalogue
from dpheatmap.serve.public_server import check_url, is_public
from dpheatmap.testing import generated_people, seeded_release
from helpers.public_server import PATIENCE, PublicServer, command_of, serve


def test_private_files_are_refused(tmp_path: Path, releases: Path) -> None:
    people = generated_people(50)
    counts = dph.aggregate(people, dph.Domain.unit(4), user="person", x="x", y="y")
    counts.save(tmp_path / "city.counts.parquet")
    counts.save(tmp_path / "city.counts.npy")
    people.write_parquet(str(tmp_path / "people.parquet"))
    people.write_csv(str(tmp_path / "people.csv"))
    dph.Ledger(str(tmp_path / "city.ledger")).limit("riders", 3)
    for name in ("city.counts.parquet", "city.counts.npy", "people.parquet", "people.csv", "city.ledger", "nothing"):
        with pytest.raises(ReleaseFileError):
            read_catalogue([str(tmp_path / name)])
    seeded_release(people, dph.Domain.unit(4), epsilon=1, seed=1, user="person", x="x", y="y").save(
        tmp_path / "seeded.dph.parquet"
    )
    with pytest.raises(PrivacyRefusal, match="made with a seed and is not private"):
        read_catalogue([str(releases / "city.dph.parquet"), str(tmp_path / "seeded.dph.parquet")])
    with pytest.raises(ParameterError, match="at most 100 releases"):
        read_catalogue([str(releases / "city.dph.parquet")] * 101)


def test_a_file_that_changes_is_not_served_as_the_old_one(tmp_path: Path, releases: Path) -> None:
    path = tmp_path / "city.dph.parquet"
    path.write_bytes((releases / "city.dph.parquet").read_bytes())
    (listed,) = read_catalogue([str(path)])
    load_again(listed)
    path.write_bytes((releases / "gaze.dph.parquet").read_bytes())
    with pytest.raises(ReleaseFileError, match="was changed since the server began"):
        load_again(listed)


def test_names_tell_releases_apart(releases: Path) -> None:
    paths = [str(releases / name) for name in ("city.dph.parquet", "By Mode.dph.parquet", "city.dph.parquet")]
    assert [listed.name for listed in read_catalogue(paths)] == ["city", "by-mode", "city-2"]


def test_no_answer_holds_a_path(client: httpx.Client, running: PublicServer) -> None:
    for address in ("/", "/collections", "/collections/city?f=html", "/collections/city/page", "/api"):
        assert str(running.folder) not in client.get(address).text


def test_answers_are_cached_by_readers(client: httpx.Client) -> None:
    for address in ("/", "/collections/city/page", "/collections/city/map/tiles/WebMercatorQuad/9/192/150"):
        first = client.get(address)
        tag = first.headers["etag"]
        assert first.headers["cache-control"] == "public, max-age=300"
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = client.get(address, headers={"if-none-match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert client.get(address, headers={"if-none-match": '"other"'}).content == first.content
        assert client.head(address).headers["content-length"] == str(len(first.content))


def test_other_sites_may_read_and_nothing_else(client: httpx.Client) -> None:
    elsewhere = {"origin": "https://elsewhere.example"}
    read = client.get("/collections/city/tilejson.json", headers=elsewhere)
    assert read.headers["access-control-allow-origin"] == "*"
    assert read.headers["x-content-type-options"] == "nosniff"
    asked = client.options("/collections/city/areas", headers={**elsewhere, "access-control-request-method": "POST"})
    assert asked.status_code == 405
    assert "access-control-allow-origin" not in asked.headers
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/collections/city").status_code == 405


def test_readers_get_a_page_and_programs_get_json(client: httpx.Client) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    for address in ("/", "/collections/city"):
        page = client.get(address, headers=browser)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert client.get(address).headers["content-type"] == "application/json"
        assert client.get(address, headers=browser, params={"f": "json"}).json()["links"]
    assert "Half of the people" in client.get("/", headers=browser).text


def test_the_servers_name_is_the_readers(client: httpx.Client, releases: Path) -> None:
    found = client.get("/collections/city/tilejson.json", headers={"host": "maps.example.org"}).json()
    assert found["tiles"][0].startswith("http://maps.example.org/collections/city/")
    for host in ("a b", "a/b", "<script>", "a:999999", ""):
        assert client.get("/collections", headers={"host": host}).status_code == 400
    with serve(releases, ["gaze.dph.parquet"], "--url", "https://maps.example.org/heat/") as proxied:
        assert proxied.origin == "https://maps.example.org/heat"


@pytest.mark.parametrize("url", ["maps.example.org", "ftp://a", "https://a/?b", "https://a b", "https://a/<b>"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ParameterError, match="--url is where readers find"):
        check_url(url)


def test_which_addresses_others_reach() -> None:
    assert [is_public(host) for host in ("127.0.0.1", "::1", "0.0.0.0", "192.0.2.1")] == [False, False, True, True]
    with pytest.raises(ParameterError, match="--host is an address"):
        is_public("localhost")


def test_half_requests_and_slow_bodies_keep_nobody_out(running: PublicServer, client: httpx.Client) -> None:
    host, _, port = running.origin.removeprefix("http://").partition(":")
    head = ("POST /collections/city/areas HTTP/1.1", "Host: a", "Content-Type: application/json", "Content-Length: 99")
    post = "\r\n".join([*head, "", ""])
    half = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(300)]
    try:
        for number, one in enumerate(half):
            one.sendall((post if number % 3 == 0 else "GET / HT").encode())
        begun = time.monotonic()
        assert client.get("/conformance").status_code == 200
        assert time.monotonic() - begun < 10
    finally:
        for one in half:
            one.close()


def test_memory_does_not_grow_with_requests(running: PublicServer, client: httpx.Client) -> None:
    def ask(times: int) -> None:
        for k in range(times):
            assert client.get(f"/collections/city/map/tiles/WebMercatorQuad/9/192/150?k={k}").status_code == 200

    ask(50)
    before = running.memory()
    ask(500)
    assert running.memory() - before < 20_000_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_when_told(releases: Path, number: signal.Signals) -> None:
    with serve(releases, ["gaze.dph.parquet"]) as started:
        with started.client() as client:
            assert client.get("/").status_code == 200
        started.process.send_signal(number)
        assert started.process.wait(PATIENCE) == (130 if number == signal.SIGINT else 143)
        assert started.process.stderr is not None
        assert "Traceback" not in started.process.stderr.read()


def test_a_taken_port_and_bad_files_are_told(releases: Path, tmp_path: Path) -> None:
    city = str(releases / "gaze.dph.parquet")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(command_of(city, "--port", port), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Port {port} of 127.0.0.1 is taken" in done.stderr
    done = subprocess.run(command_of(str(tmp_path / "no.dph.parquet")), capture_output=True, text=True)
    assert done.returncode == 3
    assert "There is no file" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_who_listens_to_others_is_told(releases: Path) -> None:
    process = subprocess.Popen(
        command_of(str(releases / "gaze.dph.parquet"), "--port", "0", "--host", "0.0.0.0"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        origin = process.stdout.readline().strip()
        assert origin.startswith("http://127.0.0.1:")
        said = [process.stderr.readline() for _ in range(2)]
        assert "Everybody who reaches this machine can read them now" in said[1]
        assert json.loads(httpx.get(f"{origin}/collections", timeout=PATIENCE).text)["collections"][0]["id"] == "gaze"
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
        process.stderr.close()
