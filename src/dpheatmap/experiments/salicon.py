"""The paper's images: SALICON as its authors publish it, with the paper's filter.

There are two releases. That of 2015 has a JSON file for each split, ``fixations_train2014.json`` and the like, in which
every annotation holds the positions that one worker looked at in one image, as (row, column). That of 2017 has a MATLAB
file for each image, ``COCO_*.mat``, in which ``gaze`` is a structure for each person. Its ``location`` are the recorded
positions as (x, y), the same kind as those of the JSON files, and its ``fixations`` a summary of them that is not used.
Both count pixels from 1.

The paper draws 38 images with at least 50 people at random and scales them from 640 x 480 to 320 x 240 pixels. It does
not say which 38. A person without any recorded position does not count; positions off the image have no weight.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.errors import DataError, MissingDependency
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.place.domain import Domain, Floats

IMAGES = 38
LEAST_PEOPLE = 50
WIDTH, HEIGHT = 640, 480
MAP = Domain.image(320, 240)

_PAGE = "http://salicon.net"
_BETWEEN = " \t\r\n,"
_CHUNK = 2**20
_LONGEST_KEY = 100  # characters up to the opening bracket, white space included
_LONGEST = 2**24  # characters of one annotation; real ones have some thousands

Looks = list[tuple[Any, Any]]
"""People, each with positions as rows of (x, y)."""


def on_map(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Convert positions in pixels of the image, counted from 1, to the map: pixels 1 and 2 are in its first cell.

    >>> x, y = on_map([1, 2, 3, 640], [1, 2, 3, 480])
    >>> x.tolist(), y.tolist()
    ([0.25, 0.75, 1.25, 319.75], [0.25, 0.75, 1.25, 239.75])
    """
    columns, rows = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return (columns - 0.5) * (MAP.extent.x1 / WIDTH), (rows - 0.5) * (MAP.extent.y1 / HEIGHT)


def gaze(folder: str | PathLike[str], *, seed: int = 0) -> Dataset:
    """Draw 38 images with at least 50 people, by the seed, from a folder that holds one of the releases.

    If the pictures (``COCO_*.jpg``) are anywhere in the folder, the places refer to them.
    """
    root = Path(folder)
    annotations = sorted(root.rglob("fixations_*.json"))
    matrices = {path.stem: path for path in sorted(root.rglob("COCO_*.mat"))}
    rng = np.random.default_rng(seed)
    if annotations:
        release, drawn = "2015", _draw_from_json(annotations, rng)
    elif matrices:
        release, drawn = "2017", _draw_from_matlab(matrices, rng)
    else:
        raise DataError(
            f"There is neither fixations_train2014.json (the release of 2015) nor fixations/train/COCO_*.mat (that of "
            f"2017) in {root}. Download SALICON from {_PAGE} and unpack it there."
        )
    if not drawn:
        raise DataError(f"No image in {root} has at least {LEAST_PEOPLE} people. Download SALICON whole from {_PAGE}")
    pictures = {path.stem: path for path in root.rglob("COCO_*.jpg")}
    places = tuple(_place(name, looks, pictures.get(name)) for name, looks in drawn.items())
    note = (
        f"SALICON, release of {release}: {len(places)} images (paper: {IMAGES}) drawn with seed {seed} from those with "
        f"at least {LEAST_PEOPLE} people; which ones the paper drew is not known"
    )
    return Dataset(places, f"SALICON (release of {release})", stand_in=False, notes=(note,))


def _place(name: str, looks: Looks, picture: Path | None) -> Place:
    ids = np.repeat([who for who, _ in looks], [len(positions) for _, positions in looks])
    x, y = on_map(*np.concatenate([positions for _, positions in looks]).T)
    return Place.of_events(name, MAP, ids, x, y, picture)


# The release of 2015


def _draw_from_json(paths: list[Path], rng: np.random.Generator) -> dict[str, Looks]:
    """Read twice, to count people and to get the images drawn: reading all at once would take gigabytes of memory."""
    names: dict[Any, str] = {}
    people: dict[Any, set[Any]] = defaultdict(set)
    for path in paths:
        names |= {image: Path(file).stem for image, file in _fields(path, "images", id=int, file_name=str)}
        for image, worker, _ in _annotations(path):
            people[image].add(worker)
    fit = [image for image in rng.permutation(sorted(names)).tolist() if len(people[image]) >= LEAST_PEOPLE]
    drawn: dict[Any, Looks] = {image: [] for image in fit[:IMAGES]}
    for path in paths:
        for image, worker, positions in _annotations(path):
            if image in drawn:
                drawn[image].append((worker, _positions(positions, path)[:, ::-1]))
    return {names[image]: looks for image, looks in drawn.items()}


def _annotations(path: Path) -> Iterator[tuple[Any, ...]]:
    """Image, worker and positions of every annotation that has positions."""
    entries = _fields(path, "annotations", image_id=int, worker_id=int, fixations=list)
    return (entry for entry in entries if entry[2])


def _fields(path: Path, array: str, **fields: type) -> Iterator[tuple[Any, ...]]:
    """Some fields of every object of an array of the file, each of its type."""
    for entry in _objects(path, array):
        if not isinstance(entry, dict) or not all(isinstance(entry.get(name), kind) for name, kind in fields.items()):
            raise _damage_error(path)
        yield tuple(entry[name] for name in fields)


def _objects(path: Path, array: str) -> Iterator[Any]:
    """The entries of an array at the top of a JSON file, decoded one at a time."""
    decode = json.JSONDecoder().raw_decode
    with open(path, encoding="utf-8", errors="replace") as file:
        text, at = _start_of(file.read, array), 0
        while text:
            while at < len(text) and text[at] in _BETWEEN:
                at += 1
            if text.startswith("]", at):
                return
            try:
                entry, at = decode(text, at)
            except json.JSONDecodeError:
                more = file.read(_CHUNK) if len(text) - at < _LONGEST else ""
                text, at = text[at:] + more if more else "", 0
            else:
                yield entry
    raise _damage_error(path)


def _start_of(read: Any, array: str) -> str:
    """The text read after the opening bracket of the array; empty if there is no such array."""
    opening, text = re.compile(rf'"{array}"\s*:\s*\['), ""
    while chunk := read(_CHUNK):
        text = text[-_LONGEST_KEY:] + chunk
        found = opening.search(text)
        if found:
            return text[found.end() :] or " "
    return ""


def _positions(listed: Any, path: Path) -> Floats:
    """Rows of two numbers."""
    try:
        positions = np.asarray(listed, dtype=np.float64)
    except (TypeError, ValueError):
        raise _damage_error(path) from None
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise _damage_error(path)
    return positions


# The release of 2017


def _draw_from_matlab(paths: dict[str, Path], rng: np.random.Generator) -> dict[str, Looks]:
    """Read files in random order until enough have the people: the same law as a draw from all that do."""
    drawn: dict[str, Looks] = {}
    for name in rng.permutation(sorted(paths)).tolist():
        looks = _read_matlab(paths[name])
        if len(looks) >= LEAST_PEOPLE:
            drawn[name] = looks
        if len(drawn) == IMAGES:
            break
    return drawn


def _read_matlab(path: Path) -> Looks:
    """The people of one image; the files give them no ids, so they are numbered."""
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise MissingDependency("scipy", "Reading the 2017 release of SALICON") from error
    try:
        locations = loadmat(path, variable_names=["gaze"])["gaze"]["location"].ravel()
    except Exception:  # scipy has no single error for a damaged file
        raise _damage_error(path) from None
    return [(who, _positions(listed, path)) for who, listed in enumerate(locations) if np.size(listed)]


def _damage_error(path: Path) -> DataError:
    return DataError(f"{path} is damaged, cut short or not what its name says. Download it again from {_PAGE}")
