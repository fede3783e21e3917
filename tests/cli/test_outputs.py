"""What a command writes never takes the place of what it reads, and what was paid for is never lost."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.errors import DpheatmapError
from dpheatmap.heatmap.heatmap import Heatmap

COLUMNS = ["--user", "person", "--x", "x", "--y", "y"]


@pytest.fixture
def folder(tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a table in two formats, a release and a ledger."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(table, "people.parquet")
    (tmp_path / "people.csv").write_text("person,x,y\nann,0.1,0.2\nbob,0.3,0.4\n")
    assert run(["release", "people.parquet", *TWO, "--ledger", "books", "-o", "a.dph.parquet"]) == 0
    shutil.copy("a.dph.parquet", "release.parquet")
    return tmp_path


TWO = ["--epsilon", "2", *COLUMNS, "--unit"]


@pytest.mark.parametrize(
    "command",
    [
        ["release", "people.csv", *TWO, "--no-ledger", "-o", "people.csv"],
        ["release", "people.*v", *TWO, "--no-ledger", "-o", "./people.csv"],
        ["release", "people.csv", *TWO, "--no-ledger", "-o", "link.csv"],
        ["release", "people.csv", *TWO, "--no-ledger", "-o", "b.dph.parquet", "--private-report", "people.csv"],
        ["release", "people.csv", *TWO, "--no-ledger", "-o", "new.csv", "--private-report", "new.csv"],
        ["release", "people.csv", *TWO, "--ledger", "books", "-o", "b.dph.parquet", "--private-report", "books"],
        ["discover", "people.csv", "--epsilon", "1", *COLUMNS, "--no-ledger", "--private-report", "people.csv"],
        ["inspect", "people.csv", "--private-report", "people.csv"],
        ["compare", "people.csv", *TWO, "-o", "people.csv"],
        ["export", "release.parquet", "-o", "release.parquet"],
        ["export", "a.dph.parquet", "--minus", "release.parquet", "-o", "release.png", "--method", "posterior"],
        ["cluster", "release.csv", "-k", "2", "-o", "release.csv"],
        ["ledger", "export", "books", "-o", "books"],
    ],
    ids=" ".join,
)
def test_nothing_that_is_read_is_overwritten(
    folder: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "link.csv").symlink_to("people.csv")
    for name in ("release.csv", "release.png"):
        (folder / name).symlink_to("release.parquet")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert run(command) == 2
    assert "in use by this command itself" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_report_that_cant_be_written_refuses_before_the_charge(folder: Path) -> None:
    paid = Ledger("books").accounts()["people.parquet"].spent
    where = ["--ledger", "books", "--private-report", "missing/report.json"]
    assert run(["release", "people.parquet", *TWO, *where, "-o", "b.dph.parquet"]) == 2
    assert run(["discover", "people.parquet", "--epsilon", "1", *COLUMNS, *where]) == 2
    assert Ledger("books").accounts()["people.parquet"].spent == paid


@pytest.mark.parametrize(
    ("stop", "code"), [(KeyboardInterrupt(), 130), (DpheatmapError("The disk is full. Free some."), 1)]
)
def test_what_was_paid_for_is_kept_if_the_map_is_not_drawn(
    folder: Path, stop: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise stop

    monkeypatch.setattr(Heatmap, "save", stopped)
    assert run(["release", "people.parquet", *TWO, "--ledger", "books", "-o", "city.png"]) == code
    (kept,) = folder.glob("city-*.dph.parquet")
    assert f"What the budget bought is kept, and dpheatmap export draws it: {kept.name}" in capsys.readouterr().err
    books = Ledger("books")
    assert books.verify([dph.load(kept)]) == len(books.entries())

    assert run(["release", "people.parquet", *TWO, "--ledger", "books", "-o", "b.png", "-o", "b.dph.parquet"]) == code
    assert "draws it: b.dph.parquet" in capsys.readouterr().err
    assert sorted(path.name for path in folder.glob("b*.dph.parquet")) == ["b.dph.parquet"]


def test_it_is_kept_elsewhere_if_the_maps_folder_is_full(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save = dph.Release.save

    def full(release: dph.Release, path: Path, **options: str) -> None:
        if Path(path).absolute().parent == folder:
            raise DpheatmapError(f"{path} could not be written: {errno.errorcode[errno.ENOSPC]}. Free some space.")
        save(release, path)

    monkeypatch.setattr(dph.Release, "save", full)
    monkeypatch.setattr(Heatmap, "save", full)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    monkeypatch.setattr("sys.platform", "linux")
    assert run(["release", "people.parquet", *TWO, "--no-ledger", "-o", "city.png"]) == 1
    (kept,) = (folder / "data" / "dpheatmap").glob("city-*.dph.parquet")
    assert f"draws it: {kept}" in capsys.readouterr().err
    assert dph.load(kept).epsilon == 2


def test_a_release_is_known_by_its_name_in_letters_of_any_size(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written as a map, what the budget bought would be lost."""
    capsys.readouterr()
    assert run(["release", "people.csv", *TWO, "--no-ledger", "-o", "June.DPH.Parquet", "-o", "JUNE.CSV"]) == 0
    assert capsys.readouterr().out.split() == ["June.DPH.Parquet", "JUNE.CSV"]
    assert dph.load("June.DPH.Parquet").epsilon == 2
    assert (folder / "JUNE.CSV").read_text().startswith("x,y,share")
    with pytest.raises(DpheatmapError, match="holds a release"):
        dph.load("June.DPH.Parquet").heatmap(size=4).save("Map.DPH.PARQUET")


@pytest.mark.parametrize(("outputs", "told"), [(["m.csv"], True), (["m.csv", "m.dph.parquet"], False)])
def test_who_keeps_a_map_alone_is_told_what_another_would_cost(
    folder: Path, outputs: list[str], told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [word for output in outputs for word in ("-o", output)]
    assert run(["release", "people.csv", *TWO, "--no-ledger", *options]) == 0
    assert ("The release itself was not saved" in capsys.readouterr().err) == told
