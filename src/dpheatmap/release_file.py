"""One release, one Parquet file that any tool opens; `docs/release-format.md` describes it.

The rows are the measurements; the metadata, as JSON under the key ``dpheatmap``, holds everything public about how they
were made. Nothing in the file depends on the data except through the noisy counts.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.budget import SHARES, UNITS, part, read_epsilon
from dpheatmap.design import AdaptiveDesign, Design, PaperDesign, measured
from dpheatmap.domain import Domain
from dpheatmap.errors import DpheatmapError, ReleaseFileError
from dpheatmap.files import not_a_pattern, replace_whole
from dpheatmap.parameters import DEEPEST, as_epsilon, check
from dpheatmap.quadtree import Ints, encode
from dpheatmap.release import Measurements, Release

FORMAT = 1
KEY = "dpheatmap"
NEIGHBOURS = "add or remove one person's whole data; replacing one person's data costs twice epsilon"
_COLUMNS = {
    "level": "TINYINT", "x": "INTEGER", "y": "INTEGER", "noisy_count": "BIGINT", "budget_share": "BIGINT",
}  # fmt: skip


def write(release: Release, path: str | PathLike[str]) -> None:
    """Write the release, whole or not at all."""
    import duckdb

    measurements = release.columns()
    chosen = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in _COLUMNS.items())
    metadata = json.dumps(describe(release), ensure_ascii=True).replace("'", "''")
    with replace_whole(path) as temporary, duckdb.connect() as con:
        con.register("measurements", measurements)
        target = str(temporary).replace("'", "''")
        try:
            con.execute(
                f"COPY (SELECT {chosen} FROM measurements) TO '{target}' "
                f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{KEY}: '{metadata}'}})"
            )
        except duckdb.IOException as error:
            raise OSError(errno.EIO, "the disk is full or failed") from error


def describe(release: Release) -> dict[str, Any]:
    """The metadata of a release: everything but its measurements."""
    from dpheatmap import __version__

    return {
        "format": FORMAT,
        "software": f"dpheatmap {__version__}",
        "made": release.made.isoformat(),
        "domain": release.domain.to_dict(),
        "epsilon": str(release.epsilon),
        "delta": str(release.delta),
        "neighbours": NEIGHBOURS,
        "design": release.design.name,
        "units_per_person": release.units,
        "shares_of_epsilon": SHARES,
        "levels": [
            {
                "level": level,
                "share": share,
                "epsilon": str(part(release.epsilon, share)),
                "scale": release.noise_scale(level),
            }
            for level, share in sorted(release.design.shares.items())
        ],
        "noise": {
            "family": "discrete Laplace",
            "law": "P(k) proportional to exp(-|k| epsilon budget_share / (shares_of_epsilon units_per_person))",
            "summed": 1,
        },
        **_settings(release.design),
        "seeded": release.seeded,
        "label": dict(release.label),
    }


def _settings(design: Design) -> dict[str, Any]:
    """What a design has besides its levels."""
    if isinstance(design, PaperDesign):
        return {"width": design.width, "decay": str(design.decay)}
    return {"closing": str(design.closing), "opening": str(design.opening)}


def _design(metadata: Mapping[str, Any]) -> Design:
    """The design that metadata describes."""
    check(design=metadata["design"])
    shares = {int(entry["level"]): int(entry["share"]) for entry in metadata["levels"]}
    if metadata["design"] == PaperDesign.name:
        decay = as_epsilon(metadata["decay"])
        check(width=metadata["width"], decay=decay)
        return PaperDesign(shares, metadata["width"], decay)
    closing, opening = as_epsilon(metadata["closing"]), as_epsilon(metadata["opening"])
    if not 0 < closing <= opening:
        raise ValueError("a cell would be opened whatever is in it")
    return AdaptiveDesign(shares, closing, opening)


def read(path: str | PathLike[str]) -> Release:
    """Read and check a release file."""
    name = Path(fspath(path)).name
    metadata, columns = _contents(path, name)
    if not isinstance(metadata.get("format"), int) or metadata["format"] > FORMAT:
        raise ReleaseFileError(
            f"{name} is of format {metadata.get('format')!r}, and this version reads up to {FORMAT}. Update dpheatmap."
        )
    try:
        release = _from_metadata(metadata, columns)
    except (KeyError, TypeError, ValueError, ArithmeticError, DpheatmapError) as error:
        raise ReleaseFileError(f"{name} is damaged: its metadata can't be understood. Get a fresh copy.") from error
    problem = _problem(release)
    if problem:
        raise ReleaseFileError(f"{name} is damaged or was altered: {problem}. Get a fresh copy.")
    return release


def _contents(path: str | PathLike[str], name: str) -> tuple[dict[str, Any], dict[str, Ints]]:
    import duckdb

    if not Path(path).is_file():
        raise ReleaseFileError(f"There is no file {fspath(path)!r}. Check the path.")
    file = not_a_pattern(path)
    with duckdb.connect() as con:
        try:
            row = con.execute("SELECT value FROM parquet_kv_metadata(?) WHERE decode(key) = ?", [file, KEY]).fetchone()
            if row is None:
                raise ReleaseFileError(f"{name} is a Parquet file but not a release. Make one with dpheatmap release.")
            sql = f"SELECT {', '.join(_COLUMNS)} FROM read_parquet(?, hive_partitioning=false)"
            table = con.execute(sql, [file]).fetchnumpy()
            metadata = json.loads(row[0])
        except (duckdb.Error, ValueError):
            raise ReleaseFileError(f"{name} can't be read as a release: it is cut short or not Parquet.") from None
    if not isinstance(metadata, dict) or any(np.ma.isMaskedArray(c) or c.dtype.kind != "i" for c in table.values()):
        raise ReleaseFileError(f"{name} is damaged: something is missing from it. Get a fresh copy.")
    return metadata, {column: np.asarray(values, dtype=np.int64) for column, values in table.items()}


def _from_metadata(metadata: Mapping[str, Any], columns: Mapping[str, Ints]) -> Release:
    if any(np.any((columns[c] < 0) | (columns[c] >= 2**DEEPEST)) for c in ("x", "y")):
        raise ValueError("a cell lies outside the deepest level")
    codes = encode(columns["x"], columns["y"])
    design = _design(metadata)
    of_level = np.array([design.shares.get(level, 0) for level in columns["level"].tolist()], dtype=np.int64)
    order = np.lexsort((columns["budget_share"] != of_level, codes, columns["level"]))  # first measurements first
    return Release(
        domain=Domain.from_dict(metadata["domain"]),
        epsilon=read_epsilon(metadata["epsilon"]),
        measurements=Measurements(
            columns["level"][order], codes[order], columns["noisy_count"][order], columns["budget_share"][order]
        ),
        design=design,
        delta=as_epsilon(metadata["delta"]),
        units=int(metadata["units_per_person"]),
        seeded=bool(metadata["seeded"]),
        made=datetime.fromisoformat(metadata["made"]),
    )


def _problem(release: Release) -> str | None:
    """What contradicts the rules that every release keeps, if anything does."""
    m, design = release.measurements, release.design
    if release.units != UNITS or release.delta != 0:
        return "its units or delta are not those of this format"
    levels, shares = sorted(design.shares), design.shares.values()
    if not levels or levels != list(range(levels[0], levels[-1] + 1)) or min(shares) <= 0 or sum(shares) != SHARES:
        return "the shares of its levels don't add up to epsilon"
    if levels[0] < 0 or levels[-1] > release.domain.depth:
        return "its levels don't fit its domain"
    if len(np.unique(m.at(levels[0])[0])) != release.domain.cells(levels[0]).count:
        return f"not all cells of its first level, {levels[0]}, were measured"
    if np.any((m.levels < levels[0]) | (m.levels > levels[-1])):
        return "a measurement has a budget that is not its level's"
    for level, codes, paid in measured(design, release.domain, release.epsilon, m):
        if not np.array_equal(m.at(level)[0], codes):
            return f"the cells measured at level {level} are not those that its design measures"
        if not np.array_equal(m.shares[m.levels == level], paid):
            return "a measurement has a budget that is not its level's"
    return None
