"""Small files in the formats of both releases of SALICON."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import dpheatmap as dph
from dpheatmap.errors import DataError, MissingDependency
from dpheatmap.experiments import salicon
from dpheatmap.experiments.salicon import gaze

Looks = list[list[tuple[float, float]]]
"""A person's positions (x, y), for each person."""


def coco(image: int) -> str:
    return f"COCO_train2014_{image:012d}"


def crowd(people: int, at: tuple[float, float] = (300, 200)) -> Looks:
    return [[at] for _ in range(people)]


def write_json(folder: Path, images: dict[int, Looks], name: str = "fixations_train2014.json") -> Path:
    """As published: information first, then images, then annotations with (row, column)."""
    listed = [{"id": n, "file_name": f"{coco(n)}.jpg", "width": 640, "height": 480, "license": 4} for n in images]
    annotations = [
        {"image_id": n, "fixations": [[y, x] for x, y in positions], "worker_id": 100 + worker, "id": n * 1000 + worker}
        for n, looks in images.items()
        for worker, positions in enumerate(looks)
    ]
    content = {"info": {}, "images": listed, "licenses": [], "type": "fixations", "annotations": annotations}
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def write_matlab(folder: Path, images: dict[int, Looks]) -> Path:
    """As published: a file for each image; gaze is a column of structures."""
    (folder / "fixations" / "train").mkdir(parents=True, exist_ok=True)
    for n, looks in images.items():
        people = np.zeros((len(looks), 1), dtype=[(f, object) for f in ("location", "timestamp", "fixations")])
        for person, positions in zip(people[:, 0], looks, strict=True):
            person["location"] = np.array(positions, dtype=float).reshape(-1, 2)
            person["timestamp"] = np.arange(len(positions), dtype=float)[:, None]
            person["fixations"] = np.array([[600, 400]], dtype=np.uint16)
        path = folder / "fixations" / "train" / f"{coco(n)}.mat"
        savemat(path, {"image": coco(n), "resolution": [[480, 640]], "gaze": people}, do_compression=True)
    return folder


def write(release: str, folder: Path, images: dict[int, Looks]) -> Path:
    write_json(folder, images) if release == "2015" else write_matlab(folder, images)
    return folder


releases = pytest.mark.parametrize("release", ["2015", "2017"])


@releases
def test_positions_are_scaled_to_the_papers_pixels(tmp_path: Path, release: str) -> None:
    """Both count pixels from 1; one writes rows first and the other columns."""
    looks: Looks = [[(1, 1), (640, 480), (3, 2)], *crowd(49)]
    data = gaze(write(release, tmp_path, {7: looks}))
    (place,) = data.places
    assert place.name == coco(7)
    assert place.domain == dph.Domain.image(320, 240)
    assert place.x[:3].tolist() == [0.25, 319.75, 1.25]
    assert place.y[:3].tolist() == [0.25, 239.75, 0.75]
    column, row, inside = place.domain.locate(place.x[:3], place.y[:3])
    assert (column.tolist(), row.tolist()) == ([0, 319, 1], [0, 239, 0])
    assert inside.all()
    assert place.user[:4].tolist() == [0, 0, 0, 1]


@releases
def test_images_with_fewer_than_fifty_people_are_left_out(tmp_path: Path, release: str) -> None:
    """People without a position on record don't count."""
    images = {1: crowd(50), 2: crowd(49), 3: [*crowd(49), []], 4: [*crowd(60), []]}
    data = gaze(write(release, tmp_path, images))
    assert {place.name: place.people for place in data.places} == {coco(1): 50, coco(4): 60}
    assert data.notes == (
        f"SALICON, release of {release}: 2 images (paper: 38) drawn with seed 0 from those with at least 50 people; "
        "which ones the paper drew is not known",
    )
    assert not data.stand_in


@releases
def test_thirty_eight_images_are_drawn_by_the_seed(tmp_path: Path, release: str) -> None:
    folder = write(release, tmp_path, {n: crowd(50) for n in range(45)})
    first, again, other = ([place.name for place in gaze(folder, seed=seed).places] for seed in (1, 1, 2))
    assert len(set(first)) == 38
    assert first == again
    assert set(first) != set(other)


@releases
def test_positions_off_the_image_weigh_nothing(tmp_path: Path, release: str) -> None:
    looks: Looks = [[(0, 100), (641, 100), (100, 100)], *crowd(49)]
    (place,) = gaze(write(release, tmp_path, {7: looks})).places
    counts = place.sample(50, np.random.default_rng(0))
    assert place.people == 50
    assert np.diff(counts.sums).tolist() in ([2**30, 49 * 2**30], [49 * 2**30, 2**30])


def test_a_worker_who_saw_an_image_twice_is_one_person(tmp_path: Path) -> None:
    path = write_json(tmp_path, {7: crowd(51)})
    content = json.loads(path.read_text())
    content["annotations"][50]["worker_id"] = content["annotations"][0]["worker_id"]
    path.write_text(json.dumps(content))
    (place,) = gaze(tmp_path).places
    assert place.people == 50
    assert len(place.user) == 51


def test_both_splits_are_read(tmp_path: Path) -> None:
    (tmp_path / "annotations").mkdir()
    write_json(tmp_path / "annotations", {1: crowd(50)})
    write_json(tmp_path / "annotations", {2: crowd(50)}, "fixations_val2014.json")
    assert {place.name for place in gaze(tmp_path).places} == {coco(1), coco(2)}


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_annotations_are_decoded_across_the_pieces_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    folder = write("2015", tmp_path, {3: [[(1, 2), (3, 4)], *crowd(49)]})
    whole = gaze(folder).places[0]
    monkeypatch.setattr(salicon, "_CHUNK", chunk)
    pieces = gaze(folder).places[0]
    assert pieces.x.tolist() == whole.x.tolist()
    assert pieces.user.tolist() == whole.user.tolist()


@releases
def test_pictures_are_found_beside_the_annotations(tmp_path: Path, release: str) -> None:
    folder = write(release, tmp_path, {1: crowd(50), 2: crowd(50)})
    picture = folder / "images" / "train" / f"{coco(1)}.jpg"
    picture.parent.mkdir(parents=True)
    picture.touch()
    assert {place.name: place.picture for place in gaze(folder).places} == {coco(1): picture, coco(2): None}


def test_an_empty_folder_is_told_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"neither fixations_train2014\.json.*nor .*\.mat.*http://salicon\.net"):
        gaze(tmp_path)


@releases
def test_a_download_without_people_enough_is_told(tmp_path: Path, release: str) -> None:
    with pytest.raises(DataError, match=r"No image in .* has at least 50 people"):
        gaze(write(release, tmp_path, {1: crowd(10)}))


def broken(content: dict[str, Any]) -> list[str]:
    """The content, damaged in every way that is told apart."""
    text = json.dumps(content)
    wrong: list[Any] = []
    for field, value in [("image_id", None), ("worker_id", [1]), ("fixations", "here"), ("fixations", [[1, 2, 3]])]:
        copy = json.loads(text)
        copy["annotations"][5][field] = value
        wrong.append(copy)
    no_names = {**content, "images": [{"id": 1}]}
    ragged = json.loads(text)
    ragged["annotations"][5]["fixations"] = [[1, 2], [3]]
    kinds = [*wrong, ragged, no_names, {**content, "annotations": {}}, {**content, "annotations": [[1, 2]]}, {}]
    return [*(json.dumps(kind) for kind in kinds), text[:-100], text.replace("worker_id", 'worker_id":: "', 1), ""]


@pytest.mark.parametrize("kind", range(12))
def test_a_damaged_json_file_is_told(tmp_path: Path, kind: int) -> None:
    path = write_json(tmp_path, {1: crowd(50)})
    damaged = broken(json.loads(path.read_text()))
    assert len(damaged) == 12
    path.write_text(damaged[kind])
    with pytest.raises(DataError, match=r"damaged.*Download it again from http://salicon"):
        gaze(tmp_path)


@pytest.mark.parametrize("kind", ["cut", "text", "no gaze", "no location", "one number"])
def test_a_damaged_matlab_file_is_told(tmp_path: Path, kind: str) -> None:
    write_matlab(tmp_path, {1: crowd(50)})
    path = tmp_path / "fixations" / "train" / f"{coco(1)}.mat"
    if kind == "cut":
        path.write_bytes(path.read_bytes()[:200])
    elif kind == "text":
        path.write_text("<html>" + "x" * 500)
    else:
        content = {"no gaze": {}, "no location": {"gaze": np.zeros(3)}, "one number": {"gaze": {"location": 1.0}}}
        savemat(path, content[kind])
    with pytest.raises(DataError, match=r"damaged.*Download it again from http://salicon"):
        gaze(tmp_path)


def test_without_scipy_the_release_of_2017_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without_scipy(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *rest, **more)

    folder = write_matlab(tmp_path, {1: crowd(50)})
    monkeypatch.setattr(builtins, "__import__", without_scipy)
    with pytest.raises(MissingDependency, match="pip install scipy"):
        gaze(folder)
