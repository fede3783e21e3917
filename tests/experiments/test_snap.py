"""Small files in SNAP's format, through the paper's filters."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from dpheatmap.errors import DataError
from dpheatmap.experiments.snap import AREA, SOURCES, Source, cities, read

GOWALLA, BRIGHTKITE = SOURCES
JANUARY, NOVEMBER = "2010-01-15T12:00:00Z", "2008-11-15T12:00:00Z"
AUSTIN = (30.25, -97.60)


def line(user: object, time: str, lat: object, lon: object, place: str = "22847") -> str:
    return f"{user}\t{time}\t{lat}\t{lon}\t{place}\n"


def write(folder: Path, source: Source, *lines: str) -> Path:
    path = folder / source.file
    path.write_bytes(gzip.compress("".join(lines).encode("latin-1")))
    return path


def both(folder: Path, gowalla: list[str], brightkite: list[str]) -> Path:
    write(folder, GOWALLA, *gowalla)
    write(folder, BRIGHTKITE, *brightkite)
    return folder


def people_of(folder: Path, source: Source, *lines: str) -> list[int]:
    return sorted(read(source, write(folder, source, *lines)).user.tolist())


def test_malformed_lines_are_passed_over(tmp_path: Path) -> None:
    lines = [
        line(1, JANUARY, *AUSTIN),
        line(2, "", "", "", ""),
        "3\n",
        "\n",
        line(4, JANUARY, "", -97.6),
        line(5, JANUARY, 30.25, "west"),
        line("", JANUARY, *AUSTIN),
        line("someone", JANUARY, *AUSTIN),
        line(6, "2010-01-32T00:00:00Z", *AUSTIN),
        line(7, "yesterday", *AUSTIN),
        line(8, JANUARY, "nan", -97.6),
        line(9, JANUARY, 0.0, 0.0, "00000000000000000000000000000000"),
        line(10, JANUARY, *AUSTIN, "a \"quoted' place"),
        line(11, JANUARY, *AUSTIN, "caf\xe9"),
        line(12, JANUARY, *AUSTIN, ""),
        line(13, JANUARY, *AUSTIN).rstrip("\n"),
    ]
    assert people_of(tmp_path, GOWALLA, *lines) == [1, 10, 11, 12, 13]


def test_gowalla_is_kept_for_january_2010(tmp_path: Path) -> None:
    times = ["2009-12-31T23:59:59Z", "2010-01-01T00:00:00Z", "2010-01-31T23:59:59Z", "2010-02-01T00:00:00Z"]
    lines = [line(user, time, *AUSTIN) for user, time in enumerate(times)]
    assert people_of(tmp_path, GOWALLA, *lines) == [1, 2]


def test_brightkite_is_kept_for_november_and_december_2008(tmp_path: Path) -> None:
    times = [
        "2008-10-31T23:59:59Z", "2008-11-01T00:00:00Z", "2008-12-31T23:59:59Z", "2009-01-01T00:00:00Z",
        "2009-11-15T12:00:00Z",
    ]  # fmt: skip
    lines = [line(user, time, *AUSTIN) for user, time in enumerate(times)]
    assert people_of(tmp_path, BRIGHTKITE, *lines) == [1, 2]


def test_the_edges_of_the_area_are_outside(tmp_path: Path) -> None:
    inside = [(1e-9, -97.6), (49.999999999, -97.6), (30.25, -134.999999999), (30.25, -60.000000001)]
    outside = [(0, -97.6), (50, -97.6), (30.25, -135), (30.25, -60), (-5, -97.6), (30.25, 97.6)]
    lines = [line(user, JANUARY, *at) for user, at in enumerate([*inside, *outside])]
    assert people_of(tmp_path, GOWALLA, *lines) == [0, 1, 2, 3]


def test_positions_in_a_cell_grow_to_the_north_and_east(tmp_path: Path) -> None:
    """Austin's cell is 0.25 degrees wide from -97.75 on and a sixth of a degree high from 30 1/6 on."""
    found = read(
        GOWALLA, write(tmp_path, GOWALLA, line(1, JANUARY, 30.1666667, -97.75), line(2, JANUARY, 30.3, -97.55))
    )
    assert found.cell.tolist() == [181 * 300 + 149] * 2
    np.testing.assert_allclose(found.x, [0, 0.8], atol=1e-6)
    np.testing.assert_allclose(found.y, [0, 0.8], atol=1e-6)


def test_positions_just_inside_the_far_edges_stay_in_the_last_cell(tmp_path: Path) -> None:
    lon, lat = np.nextafter(AREA.x1, -np.inf), np.nextafter(AREA.y1, 0)
    found = read(GOWALLA, write(tmp_path, GOWALLA, line(1, JANUARY, repr(float(lat)), repr(float(lon)))))
    assert found.cell.tolist() == [300 * 300 - 1]
    assert 0.999 < found.x[0] < 1
    assert 0.999 < found.y[0] < 1


def test_what_is_left_is_told_beside_the_papers_numbers(tmp_path: Path) -> None:
    gowalla = [line(user, JANUARY, *AUSTIN) for user in (5, 5, 5, 8)] + [line(9, NOVEMBER, *AUSTIN)]
    data = cities(both(tmp_path, gowalla, [line(user, NOVEMBER, *AUSTIN) for user in (5, 6, 7)]))
    assert data.notes == (
        "Gowalla: 4 check-ins by 2 people after the paper's filters (paper: 196,071 by 10,196)",
        "Brightkite: 3 check-ins by 3 people after the paper's filters (paper: 304,608 by 10,177)",
        "The 2 cells with the most check-ins: 1 of Gowalla, 1 of Brightkite; the least peopled has 2 people",
    )
    assert not data.stand_in
    assert data.title == "Gowalla and Brightkite (SNAP)"


def test_the_fullest_thirty_cells_of_both_are_taken(tmp_path: Path) -> None:
    """Cell k has k + 1 check-ins: Gowalla's are at odd k, Brightkite's at even k, all by the same two people."""
    gowalla: list[str] = []
    brightkite: list[str] = []
    for k in range(40):
        lines, time = (gowalla, JANUARY) if k % 2 else (brightkite, NOVEMBER)
        lines += [line(visit % 2, time, 30.25, -120 + k / 4 + 0.1) for visit in range(k + 1)]
    data = cities(both(tmp_path, gowalla, brightkite), depth=5)
    assert [len(place.user) for place in data.places] == list(range(40, 10, -1))
    assert [place.name.split()[0] for place in data.places[:3]] == ["Gowalla", "Brightkite", "Gowalla"]
    assert data.places[0].name == "Gowalla 30.25 N 110.12 W"
    assert data.places[0].people == 2
    assert data.places[0].domain.depth == 5
    assert "15 of Gowalla, 15 of Brightkite" in data.notes[2]


def test_one_cell_of_both_datasets_makes_two_maps(tmp_path: Path) -> None:
    """Person 1 of one is not person 1 of the other, and the maps are not merged."""
    gowalla = [line(1, JANUARY, *AUSTIN), line(2, JANUARY, *AUSTIN)]
    data = cities(both(tmp_path, gowalla, [line(1, NOVEMBER, *AUSTIN)]))
    assert [place.name for place in data.places] == ["Gowalla 30.25 N 97.62 W", "Brightkite 30.25 N 97.62 W"]
    assert [place.people for place in data.places] == [2, 1]


@pytest.mark.parametrize("name", ["loc-gowalla_totalCheckins.txt", "Gowalla_totalCheckins.txt"])
def test_unpacked_files_are_read_too(tmp_path: Path, name: str) -> None:
    both(tmp_path, [], [line(1, NOVEMBER, *AUSTIN)])
    (tmp_path / GOWALLA.file).unlink()
    (tmp_path / name).write_text(line(1, JANUARY, *AUSTIN))
    assert len(cities(tmp_path).places) == 2


def test_a_folder_whose_name_looks_like_a_pattern_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "data [2010]*"
    folder.mkdir()
    assert people_of(folder, GOWALLA, line(1, JANUARY, *AUSTIN)) == [1]


def test_a_missing_file_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    write(tmp_path, GOWALLA, line(1, JANUARY, *AUSTIN))
    with pytest.raises(
        DataError, match=r"loc-brightkite_totalCheckins\.txt\.gz is not in .*loc-Brightkite\.html"
    ) as error:
        cities(tmp_path)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_download_that_was_cut_short_is_told_without_its_rows(tmp_path: Path, kept: float) -> None:
    rng = np.random.default_rng(0)
    lines = [line(user, JANUARY, 30 + rng.random(), -97 - rng.random(), "secret") for user in range(3000)]
    path = write(tmp_path, GOWALLA, *lines)
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(DataError, match=r"cut short.*Download it again from https://snap") as error:
        read(GOWALLA, path)
    assert "secret" not in str(error.value)
    assert error.value.__context__ is None


def test_what_is_not_an_archive_is_told(tmp_path: Path) -> None:
    path = tmp_path / GOWALLA.file
    path.write_text("<html>Not found</html>")
    with pytest.raises(DataError, match="not what its name says"):
        read(GOWALLA, path)


def test_files_of_which_nothing_is_left_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="left nothing"):
        cities(both(tmp_path, [line(1, NOVEMBER, *AUSTIN)], []))
