"""Requests that the app must refuse, sent to a real server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpheatmap.app import connection_owner
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.release_shelf import Shelf, hold_folder
from dpheatmap.app.request_guard import KEY, Guard
from dpheatmap.app.routes import application
from dpheatmap.app.session import GUESSES, Session
from dpheatmap.cli import run
from dpheatmap.errors import DpheatmapError
from helpers.served import PATIENCE, PLACE, Served, ended, key_in, serving, trips, wanted

CHANGES = [
    ("POST", "/api/limit"),
    ("POST", "/api/charged"),
    ("POST", "/api/releases"),
    ("DELETE", "/api/releases/0"),
    ("PUT", "/api/uploads?name=a.csv"),
    ("GET", "/api/releases"),
]
NAMES = ["../../evil.csv", "..\\evil.csv", "/etc/passwd.csv", "a\x00b.csv", "x" * 300 + ".csv"]
BROKEN = [
    b"",
    b"[]",
    b"{",
    b"null",
    b"[" * 60_000,
    b'{"place": 3}',
    b'{"place": {"kind": "bbox", "bounds": ["a", 1, 2, 3]}}',
]
PATHS = ["/", "/static/app.js", "/api/start", "/api/releases", "/api/budget", "/api/nothing"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1", "", "127.0.0.1.evil.example"]
)
@pytest.mark.parametrize("path", ["/", "/open?token=x", "/api/releases"])
def test_a_foreign_host_gets_nothing(client: httpx.Client, host: str, path: str) -> None:
    """After DNS rebinding the browser would send the attacker's name, along with what it has for it."""
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 421
    assert "Open the address" in answer.json()["error"]


def by_hand(served: Served, client: httpx.Client, request: str, header: str) -> socket.socket:
    """A connection on which the head of a request was sent, with everything that the app asks for."""
    host = served.origin.removeprefix("http://")
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    raw = socket.create_connection((host.partition(":")[0], int(host.partition(":")[2])), timeout=PATIENCE)
    head = [f"{request} HTTP/1.1", f"Host: {host}", f"Origin: {served.origin}", f"Cookie: {cookie}"]
    head += [f"{KEY}: {client.headers[KEY]}", header]
    raw.sendall("\r\n".join([*head, "", ""]).encode())
    return raw


def test_two_hosts_get_nothing(served: Served, client: httpx.Client) -> None:
    with by_hand(served, client, "GET /api/start", "Host: evil.example") as raw:
        assert raw.makefile("rb").readline().split()[1] in (b"400", b"421")


@pytest.mark.parametrize("path", PATHS)
def test_without_the_cookie_nothing_is_shown(served: Served, client: httpx.Client, path: str) -> None:
    with served.client() as stranger:
        for cookie in ("", *(f"{name}=guess" for name in client.cookies), "dpheatmap-1=x", '"'):
            answer = stranger.get(path, headers={"Cookie": cookie})
            assert answer.status_code == 401
            assert answer.json()["error"].startswith("This browser has not opened the link that dpheatmap app printed.")


def test_the_link_works_once(served: Served, client: httpx.Client) -> None:
    with served.client() as second:
        for link in (served.link, "/open", "/open?token=", "/open?token=guess"):
            answer = second.get(link)
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


def test_the_system_tells_whose_a_connection_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as mine:
        near, far = mine.getsockname(), mine.getpeername()
        assert connection_owner.owner_of(near, far) == os.getuid()
        assert not connection_owner.is_another_users(near, far)
        assert connection_owner.owner_of(near, ("127.0.0.1", 1)) is None, "another connection from the same port"
        assert connection_owner.owner_of(("::1", near[1]), far) is None
    assert connection_owner.owner_of(("192.0.2.7", 1), far) is None


def test_a_connection_that_nobody_owns_is_a_strangers() -> None:
    """On this machine, that is: closed at once, or of an address that is none. Other machines' are not listed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as closed:
            near, far = closed.getsockname(), closed.getpeername()
        assert connection_owner.owner_of(near, far) is None, "root is given as the user of what was closed"
        assert connection_owner.is_another_users(near, far)
    for nobody in ("127.0.0.1", "127.9.9.9", "::1", "192.0.2.1", "junk", ""):
        assert connection_owner.is_another_users((nobody, 0), ("192.0.2.1", 80))
    for elsewhere in ("192.0.2.7", "2001:db8::7", "fe80::7%eth0"):
        assert not connection_owner.is_another_users((elsewhere, 1), ("192.0.2.1", 80))


VISIT = """
import encodings.idna, http.client, os, sys  # all before the user changes: another one may not read them
from urllib.parse import urlsplit
link, user, forwarded = sys.argv[1:]
if int(user):
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
where = urlsplit(link)
connection = http.client.HTTPConnection(where.hostname, where.port)
connection.request("GET", f"{where.path}?{where.query}", headers={"X-Forwarded-For": forwarded} if forwarded else {})
answer = connection.getresponse()
print(answer.status, answer.getheader("set-cookie"), answer.getheader("x-frame-options"))
"""
NOBODY = 65534


def visit_as(user: int, link: str, forwarded: str) -> list[str]:
    """Open the link as a user of this machine, in the name of somebody else: status, cookie and a security header."""
    command = [sys.executable, "-c", VISIT, link, str(user), forwarded]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(" ", 2)


FORWARDED = ["", "10.9.8.7", "127.0.0.1", "::1", "junk", "10.9.8.7, 127.0.0.1"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root may act as another user")
def test_no_header_makes_another_user_the_owner(tmp_path: Path) -> None:
    with serving(tmp_path / "kept", str(tmp_path / "l")) as served:
        for forwarded in FORWARDED:
            assert visit_as(NOBODY, served.link, forwarded) == ["401", "None", "DENY\n"], forwarded
        assert visit_as(0, served.link, "")[0] == "200"


@pytest.mark.parametrize("forwarded", ["10.9.8.7", "junk"])
def test_no_header_of_a_proxy_is_believed(tmp_path: Path, forwarded: str) -> None:
    """Nor does one keep the owner out, or break the answer."""
    with serving(tmp_path / "kept", str(tmp_path / "l")) as served:
        assert visit_as(0, served.link, forwarded)[0] == "200"


def test_another_user_of_the_machine_can_not_use_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They see it in the list of programs while it opens the browser. It still works for whose app it is."""
    session = Session(80)
    parts = Parts(session, tmp_path / "kept", str(tmp_path / "l"), 10**6)
    app: Any = Guard(application(parts), session, ["127.0.0.1"])

    async def visit() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            return (await client.get(f"/open?token={session.link}")).status_code

    with ThreadPoolExecutor(1) as pool:
        for owner, status in ((os.getuid() + 1, 401), (None, 401), (os.getuid(), 200)):
            monkeypatch.setattr(connection_owner, "owner_of", lambda near, far, owner=owner: owner)
            assert pool.submit(asyncio.run, visit()).result() == status
    parts.close()


def test_the_cookie_is_for_this_site_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "kept", str(tmp_path / "l")) as served, served.client() as client:
        cookie = client.get(served.link).headers["set-cookie"]
        assert cookie.startswith(f"dpheatmap-{served.origin.rpartition(':')[2]}=")
        assert {part.strip().lower() for part in cookie.split(";")[1:]} == {"httponly", "samesite=strict", "path=/"}


def test_the_cookie_alone_gets_nothing(served: Served, client: httpx.Client) -> None:
    """A browser sends it to every server on this machine, whatever its port, so that others may know it."""
    with served.client(cookies=client.cookies) as thief:
        for key in ("", "guess", served.link, *client.cookies.values()):
            for method, path in [*CHANGES, ("GET", "/api/start"), ("GET", "/api/budget"), ("GET", "/api/releases/0")]:
                answer = thief.request(method, path, headers={KEY: key})
                assert answer.status_code == 401
                assert answer.json()["error"].startswith("This browser has not opened the link")
        assert thief.get("/").status_code == 200, "the page itself, which is everybody's"
        assert client.headers[KEY] not in thief.get("/").text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages_get_nothing_done(client: httpx.Client, headers: dict[str, str]) -> None:
    for method, path in CHANGES:
        assert client.request(method, path, headers=headers).status_code == 403


def test_a_form_of_another_page_gets_nothing_done(served: Served, client: httpx.Client) -> None:
    """Not even where a browser sends neither origin nor its fetch metadata: a form can't send JSON."""
    with served.client(headers={}, cookies=client.cookies) as bare:
        assert bare.post("/api/limit", data={"population": "p", "epsilon": "9"}).status_code == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        body = json.dumps({"population": "p", "epsilon": "9"})
        assert client.post("/api/limit", content=body, headers={"Content-Type": kind}).status_code == 415
    assert served.charges("p") == 0
    assert client.get("/api/budget").json()["populations"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/static/../texts.json",
        "/static/..%2ftexts.json",
        "/static/%2e%2e/%2e%2e/__init__.py",
        "/static//etc/passwd",
        "/static/app.js%00.html",
        "/api/releases/..%2f..%2fsecret/map",
        "/api/releases/../../secret",
        "/api/uploads/..%2f..%2fsecret/picture",
    ],
)
def test_no_path_leads_out(served: Served, client: httpx.Client, path: str) -> None:
    with by_hand(served, client, f"GET {path}", "Connection: close") as raw:  # httpx would tidy the path up
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.split()[1] in (b"400", b"404")
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "..\\evil.csv", "/etc/passwd.csv", "a\x00b.csv", "x" * 300 + ".csv"]
)
def test_names_of_uploads_are_no_paths(served: Served, client: httpx.Client, name: str) -> None:
    answer = client.put("/api/uploads", params={"name": name}, content=b"rider,lon,lat\n1,7.4,46.95\n")
    assert answer.status_code == 200
    found = answer.json()
    assert "/" not in found["name"]
    assert "\\" not in found["name"]
    kept = list((served.folder / "uploads").iterdir())
    assert [path.name for path in kept] == [f"{found['upload']}.csv"]
    assert kept[0].stat().st_mode & 0o777 == 0o600
    assert kept[0].parent.stat().st_mode & 0o777 == 0o700
    assert client.delete(f"/api/uploads/{found['upload']}").status_code == 200
    assert list((served.folder / "uploads").iterdir()) == []


def test_a_deleted_release_is_restored_by_its_id_alone(served: Served, client: httpx.Client) -> None:
    for id in ("..", "..%2freleases", "0" * 16):
        assert client.post(f"/api/releases/{id}/restore").status_code in (400, 404)


def test_a_declared_upload_of_two_gigabytes_is_refused_at_once(served: Served, client: httpx.Client) -> None:
    """Before a byte of it is read."""
    with by_hand(served, client, "PUT /api/uploads?name=a.csv", f"Content-Length: {2 * 10**9}") as raw:
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.split()[1] == b"413"
    assert b"Uploads may have 1,000 MB together. Give the path" in answer
    assert list((served.folder / "uploads").iterdir()) == []


def test_an_endless_upload_is_cut_off(served: Served, client: httpx.Client) -> None:
    """Two gigabytes that nobody declared: what arrived is removed when the limit is passed, and memory stays small."""
    block = 2**22
    chunk = f"{block:x}\r\n".encode() + bytes(block) + b"\r\n"
    before, sent, most = served.memory(), 0, 0
    with by_hand(served, client, "PUT /api/uploads?name=a.csv", "Transfer-Encoding: chunked") as raw:
        try:
            while sent < 2 * 10**9:
                raw.sendall(chunk)
                sent += block
                most = max(most, served.memory())
        except OSError:
            pass
        else:
            pytest.fail("everything was taken")
    assert 9 * 10**8 < sent < 13 * 10**8
    assert most - before < 10**8
    assert list((served.folder / "uploads").iterdir()) == []


def test_large_and_broken_requests_get_an_answer(client: httpx.Client) -> None:
    kind = {"Content-Type": "application/json"}
    assert client.post("/api/plan", content=b"x" * 10**6, headers=kind).status_code == 413
    for content in BROKEN:
        answer = client.post("/api/plan", content=content, headers=kind)
        assert answer.status_code == 400, content[:20]
        assert answer.json()["error"]
    for path in ("/tmp/\\ud800", "a\\u0000b", "\\udfff"):
        answer = client.post("/api/inspect", content=f'{{"path": "{path}"}}', headers=kind)
        assert answer.status_code == 400, path
    assert client.put("/api/uploads?name=evil.exe", content=b"x").status_code == 400


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_keeps_the_browser_in_bounds(served: Served, client: httpx.Client, path: str) -> None:
    with served.client() as stranger:
        for answer in (client.get(path), stranger.get(path), client.get(path, headers={"Host": "evil.example"})):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in answer.headers
            assert "server" not in answer.headers


def test_fifty_requests_at_once_charge_once(served: Served, client: httpx.Client, population: str, table: Path) -> None:
    """Fifty tabs ask for the same release; all get the same one, and one charge is made."""
    body = wanted({"path": str(table)}, population)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: client.post("/api/releases", json=body), range(50)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert ended(client, answers[0].json()["id"])["state"] == "done"
    with ThreadPoolExecutor(50) as pool:
        starts = list(pool.map(lambda _: client.get("/api/releases").status_code, range(50)))
    assert set(starts) == {200}
    assert served.charges(population) == 1


def test_a_script_in_a_column_name_stays_text(client: httpx.Client) -> None:
    """The page writes names as text (tested in the browser); the server never makes HTML of them."""
    name = "<img src=x onerror=alert(1)>"
    table = f'rider,"{name}",lat\n1,7.4,46.9\n'
    upload = client.put("/api/uploads", params={"name": f"{name}.csv"}, content=table.encode()).json()
    answer = client.post("/api/inspect", json={"upload": upload["upload"]})
    assert answer.headers["content-type"] == "application/json"
    assert name in answer.json()["columns"]
    client.delete(f"/api/uploads/{upload['upload']}")


def test_errors_name_the_file_as_its_owner_does(client: httpx.Client) -> None:
    upload = client.put("/api/uploads?name=mine.csv", content=b"rider,lon,lon\n1,7.4,46.9\n").json()["upload"]
    answer = client.post("/api/inspect", json={"upload": upload})
    assert answer.status_code == 400
    assert "mine.csv" in answer.json()["error"]
    assert upload not in answer.json()["error"]
    client.delete(f"/api/uploads/{upload}")


@pytest.mark.parametrize(
    ("options", "environment", "words"),
    [
        (["--host", "192.0.2.7"], {}, "Add --allow-network and a password"),
        (["--host", "192.0.2.7", "--allow-network"], {}, "no password of at least 12"),
        (["--host", "192.0.2.7", "--allow-network"], {"DPHEATMAP_APP_PASSWORD": "short"}, "no password of at least 12"),
        (["--host", "0.0.0.0", "--allow-network"], {"DPHEATMAP_APP_PASSWORD": "long enough for it"}, "Name the one"),
        (["--host", "example.org"], {}, "must be a number"),
    ],
)
def test_other_addresses_need_a_flag_and_a_password(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    environment: dict[str, str],
    words: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert run(["app", "--no-open", "--folder", str(tmp_path / "kept"), *options]) in (2, 4)
    assert words in capsys.readouterr().err
    assert not os.listdir(tmp_path)


def test_the_link_and_the_password_are_both_needed() -> None:
    session = Session(1, "a long password")
    link = session.link or ""
    assert session.exchange("guess", "a long password") is None
    assert session.exchange(link) is None
    cookie = session.exchange(link, "a long password")
    assert session.holds(cookie)
    assert not session.holds(link)
    assert session.exchange(link, "a long password") is None


def test_a_few_wrong_passwords_void_the_link() -> None:
    session = Session(1, "a long password")
    link = session.link or ""
    for _ in range(GUESSES):
        assert session.exchange(link, "guess") is None
    assert session.exchange(link, "a long password") is None


def test_the_password_is_asked_for(tmp_path: Path) -> None:
    """At an address beyond loopback, where tests may not listen: without the network in between."""
    session = Session(80, "a long password")
    parts = Parts(session, tmp_path / "kept", str(tmp_path / "l"), 10**6)
    app: Any = Guard(application(parts), session, ["192.0.2.7"])

    async def visit() -> None:
        transport = httpx.ASGITransport(app, client=("192.0.2.9", 123))
        async with httpx.AsyncClient(transport=transport, base_url="http://192.0.2.7") as client:
            link = session.link
            asked = await client.get(f"/open?token={link}")
            assert 'type="password"' in asked.text
            assert "set-cookie" not in asked.headers
            client.headers["Origin"] = "http://192.0.2.7"
            wrong = await client.post(f"/open?token={link}", data={"password": "guess"})
            assert wrong.status_code == 403
            assert "That was not the password." in wrong.text
            right = await client.post(f"/open?token={link}", data={"password": "a long password"})
            assert right.status_code == 200
            client.headers[KEY] = key_in(right.text)
            assert (await client.get("/api/start")).json()["upload_limit"] == 10**6

    with ThreadPoolExecutor(1) as pool:  # in the tests' own thread a browser's loop may be running
        pool.submit(asyncio.run, visit()).result()
    parts.close()


def test_no_session_no_place(served: Served) -> None:
    with served.client() as stranger:
        assert stranger.post("/api/plan", json={"place": PLACE, "epsilon": "1", "users": 100}).status_code == 401


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    """The app removes what is in its folders for uploads and deleted releases; nobody else's may be called so."""
    mine = tmp_path / "uploads" / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("years of work")
    with pytest.raises(DpheatmapError, match="has other things in it"), hold_folder(tmp_path):
        pass
    assert mine.read_text() == "years of work"
    for _ in range(2):
        with hold_folder(tmp_path / "new"):
            Shelf(tmp_path / "new")


def test_uploads_are_gone_after_the_end(tmp_path: Path) -> None:
    with serving(tmp_path / "kept", str(tmp_path / "l")) as served, served.opened() as client:
        assert (
            client.put("/api/uploads?name=a.parquet", content=trips(tmp_path / "t.parquet").read_bytes()).status_code
            == 200
        )
        assert len(list((tmp_path / "kept" / "uploads").iterdir())) == 1
    assert served.process.returncode == 143
    assert not (tmp_path / "kept" / "uploads").exists()
