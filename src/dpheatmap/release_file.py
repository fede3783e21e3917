"""One release, one Parquet file that any tool opens; `docs/release-format.md` describes it.

The rows are the measurements; the metadata, as JSON under the key ``dpheatmap``, holds everything public about how they
were made. Nothing in the file depends on the data except through the noisy counts.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.adaptive import AdaptiveDesign
from dpheatmap.budget import FARTHEST, SHARES, UNITS, part, read_epsilon
from dpheatmap.databases import is_database, shown
from dpheatmap.dense import DenseDesign
from dpheatmap.design import PaperDesign, Question, walk
from dpheatmap.domain import Domain
from dpheatmap.embedded import connect
from dpheatmap.errors import DpheatmapError, ReleaseFileError
from dpheatmap.files import not_a_pattern, replace_whole
from dpheatmap.mechanism import CURATOR, Mechanism
from dpheatmap.parameters import DEEPEST, as_epsilon, check
from dpheatmap.quadtree import Ints, encode
from dpheatmap.release import AnyDesign, LedgerEntry, Measurements, Release

FORMAT = 2
"""The newest format; the first, which every release of a curator still has, knows no other trust model."""
KEY = "dpheatmap"
_MEMORY = "1GB"
_FEW_ROWS = 2**16  # a curator's noise does not compress: above so many, each row takes a byte or more
_MOST_COLLECTED = (
    2**22
)  # as many cells as a collection may have; few reports, or few units, compress to next to nothing
_PRESENT = "one participant's whole data replaced by none, while the number of participants is public"
NEIGHBOURS = {
    "curator": "add or remove one person's whole data; replacing one person's data costs twice epsilon",
    "shuffler": _PRESENT,
    "servers": _PRESENT,
    "nobody": "any two values of one participant's whole data, or none",
}
_COLUMNS = {
    "level": "TINYINT", "x": "INTEGER", "y": "INTEGER", "noisy_count": "BIGINT", "budget_share": "BIGINT",
}  # fmt: skip
_DEVIATION = {"noise_deviation": "BIGINT"}
_LAPLACE = "P(k) proportional to exp(-|k| epsilon budget_share / (shares_of_epsilon units_per_person))"
_GAUSSIAN = "nearly normal, with the standard deviation noise_deviation / units_per_person"
_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}


def write(release: Release, path: str | PathLike[str]) -> None:
    """Write the release, whole or not at all."""
    import duckdb

    measurements = release.columns()
    kinds = {name: kind for name, kind in (_COLUMNS | _DEVIATION).items() if name in measurements}
    chosen = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds.items())
    metadata = json.dumps(describe(release), ensure_ascii=True).replace("'", "''")
    with replace_whole(path) as temporary, connect() as con:
        con.register("measurements", measurements)
        target = str(temporary).replace("'", "''")
        try:
            con.execute(
                f"COPY (SELECT {chosen} FROM measurements) TO '{target}' "
                f"(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, KV_METADATA {{{KEY}: '{metadata}'}})"
            )
        except duckdb.IOException as error:
            raise OSError(errno.EIO, "the disk is full or failed") from error


def describe(release: Release) -> dict[str, Any]:
    """The metadata of a release: everything but its measurements."""
    from dpheatmap import __version__

    mechanism = release.mechanism
    return {
        "format": 2 if mechanism.collected else 1,
        "software": f"dpheatmap {__version__}",
        "made": release.made.isoformat(),
        "domain": release.domain.to_dict(),
        "epsilon": str(release.epsilon),
        "delta": str(release.delta),
        "neighbours": NEIGHBOURS[mechanism.trusted],
        "trusted": mechanism.trusted,
        "participants": mechanism.participants,
        "design": release.design.name,
        "units_per_person": release.units,
        "shares_of_epsilon": SHARES,
        "noise": {
            "family": mechanism.family,
            "law": _GAUSSIAN if mechanism.trusted == "nobody" else _LAPLACE,
            "summed": int(mechanism.summed) if mechanism.summed.denominator == 1 else str(mechanism.summed),
        },
        **_settings(release),
        "seeded": release.seeded,
        "ledger": None if release.ledger is None else release.ledger._asdict(),
        "label": dict(release.label),
    }


def _settings(release: Release) -> dict[str, Any]:
    """What makes up the design."""
    design = release.design
    if not isinstance(design, PaperDesign):
        return {"rule": {name: str(value) for name, value in vars(design).items()}}
    # Where nobody was trusted, the shares are those of the people, and each of them spends all of epsilon on one level.
    whole = release.mechanism.trusted == "nobody"
    levels = [
        {"level": level, "share": share, "epsilon": str(release.epsilon if whole else part(release.epsilon, share))}
        for level, share in sorted(design.shares.items())
    ]
    once = {"at_once": True} if design.at_once else {}
    return {"width": design.width, "decay": str(design.decay), **once, "levels": levels}


def _design(metadata: Mapping[str, Any]) -> AnyDesign:
    """The design that metadata describes."""
    check(design=metadata["design"])
    for kind in (AdaptiveDesign, DenseDesign):
        if metadata["design"] == kind.name:
            return _ruled(kind, metadata["rule"])
    shares = {int(entry["level"]): int(entry["share"]) for entry in metadata["levels"]}
    levels = sorted(shares)
    check(first_level=levels[0], depth=levels[-1])
    if levels != list(range(levels[0], levels[-1] + 1)) or min(shares.values()) <= 0 or sum(shares.values()) != SHARES:
        raise ValueError("the shares of the levels don't add up to epsilon")
    decay = as_epsilon(metadata["decay"])
    check(width=metadata["width"], decay=decay)
    return PaperDesign(shares, metadata["width"], decay, metadata.get("at_once", False) is True)


def _mechanism(metadata: Mapping[str, Any]) -> Mechanism:
    """Who was trusted; before that was written down, a curator."""
    if metadata["format"] < 2:
        return CURATOR
    participants = metadata["participants"]
    if type(participants) is not int:
        raise ValueError("the number of participants is not a whole number")
    return Mechanism(metadata["trusted"], as_epsilon(metadata["noise"]["summed"]), participants)


def _ruled(kind: type[AdaptiveDesign] | type[DenseDesign], rule: Mapping[str, Any]) -> AdaptiveDesign | DenseDesign:
    """A design of two levels and further fractions."""
    values = {field.name: as_epsilon(rule[field.name]) for field in fields(kind)}
    if len(rule) > len(values):
        raise ValueError("there is more to the rule than a rule has")
    first, last = values.pop("first"), values.pop("last")
    if first.denominator != 1 or last.denominator != 1:
        raise ValueError("a level is not a whole number")
    return kind(int(first), int(last), **values)


def read(path: str | PathLike[str]) -> Release:
    """Read and check a release file."""
    name = Path(fspath(path)).name
    return understood(*_contents(path, name), name)


def understood(metadata: Mapping[str, Any], columns: Mapping[str, Ints], name: str) -> Release:
    """The release that metadata and columns describe, if they are those of one."""
    if not isinstance(metadata.get("format"), int) or metadata["format"] > FORMAT:
        raise ReleaseFileError(
            f"{name} is of format {metadata.get('format')!r}, and this version reads up to {FORMAT}. Update dpheatmap."
        )
    try:
        release = _from_metadata(metadata, columns)
    except (LookupError, TypeError, ValueError, ArithmeticError, DpheatmapError) as error:
        raise ReleaseFileError(f"{name} is damaged: its metadata can't be understood. Get a fresh copy.") from error
    problem = _problem(release)
    if problem:
        raise ReleaseFileError(f"{name} is damaged or was altered: {problem}. Get a fresh copy.")
    return release


def _contents(path: str | PathLike[str], name: str) -> tuple[dict[str, Any], dict[str, Ints]]:
    import duckdb

    if not Path(path).is_file():
        missing = shown(fspath(path), "database") if is_database(path) else fspath(path)
        raise ReleaseFileError(f"There is no file {missing!r}. Check the path.")
    file = not_a_pattern(path)
    with connect(memory_limit=_MEMORY) as con:
        try:
            (rows,) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [file]).fetchone() or (0,)
            row = con.execute("SELECT value FROM parquet_kv_metadata(?) WHERE decode(key) = ?", [file, KEY]).fetchone()
            if row is None:
                raise ReleaseFileError(f"{name} is a Parquet file but not a release. Make one with dpheatmap release.")
            metadata = json.loads(row[0])
            most = _MOST_COLLECTED if _collected(metadata) else _FEW_ROWS + Path(path).stat().st_size
            if rows > most:
                raise ReleaseFileError(
                    f"{name} is damaged: it has more rows than a release of its size can have. Get a fresh copy."
                )
            wanted = [*_COLUMNS, *(_DEVIATION if _has_deviations(metadata) else ())]
            sql = f"SELECT {', '.join(wanted)} FROM read_parquet(?, hive_partitioning=false) LIMIT ?"
            kinds = con.execute(f"DESCRIBE {sql}", [file, 0]).fetchnumpy()["column_type"]
            table = con.execute(sql, [file, most]).fetchnumpy() if set(kinds) <= _INTEGERS else {}
        except (duckdb.Error, ValueError, RecursionError):
            raise ReleaseFileError(
                f"{name} can't be read as a release: it is cut short or not Parquet. Get a fresh copy."
            ) from None
    if not isinstance(metadata, dict) or not table or any(np.ma.isMaskedArray(column) for column in table.values()):
        raise ReleaseFileError(f"{name} is damaged: something is missing from it. Get a fresh copy.")
    return metadata, {column: np.asarray(values, dtype=np.int64) for column, values in table.items()}


def _collected(metadata: Any) -> bool:
    return isinstance(metadata, dict) and metadata.get("trusted", CURATOR.trusted) != CURATOR.trusted


def _has_deviations(metadata: Any) -> bool:
    return isinstance(metadata, dict) and metadata.get("trusted") == "nobody"


def _from_metadata(metadata: Mapping[str, Any], columns: Mapping[str, Ints]) -> Release:
    if any(np.any((columns[c] < 0) | (columns[c] >= 2**DEEPEST)) for c in ("x", "y")):
        raise ValueError("a cell lies outside the deepest level")
    codes = encode(columns["x"], columns["y"])
    order = np.lexsort((codes, columns["level"]))  # a cell's measurements stay in the order of the file
    return Release(
        domain=Domain.from_dict(metadata["domain"]),
        epsilon=read_epsilon(metadata["epsilon"]),
        measurements=Measurements(
            columns["level"][order],
            codes[order],
            columns["noisy_count"][order],
            columns["budget_share"][order],
            columns["noise_deviation"][order] if _has_deviations(metadata) else None,
        ),
        design=_design(metadata),
        delta=as_epsilon(metadata["delta"]),
        units=int(metadata["units_per_person"]),
        seeded=bool(metadata["seeded"]),
        made=datetime.fromisoformat(metadata["made"]),
        ledger=_ledger(metadata.get("ledger")),
        mechanism=_mechanism(metadata),
    )


def _ledger(entry: Any) -> LedgerEntry | None:
    """Where the release was charged, if it was."""
    if entry is None:
        return None
    number, head = entry["number"], entry["head"]
    if type(number) is not int or number < 1 or not re.fullmatch("[0-9a-f]{64}", head):
        raise ValueError("not an entry of a ledger")
    return LedgerEntry(number, head)


class _NotMeasuredError(Exception):
    """A question of the design that the file has no answer to."""


def _problem(release: Release) -> str | None:
    """What contradicts the rules that every release keeps, if anything does: the design is walked through again."""
    m, design = release.measurements, release.design
    at_once = isinstance(design, PaperDesign) and design.at_once
    if at_once != release.mechanism.collected:
        return "its design is not one for the trust model that it claims"
    units = 0 < release.units <= UNITS if at_once else release.units == UNITS
    if not units or not 0 <= release.delta < 1 or (release.delta > 0 and release.mechanism.trusted != "shuffler"):
        return "its units or delta are not those of this format"
    if design.last > release.domain.depth:
        return "its levels don't fit its domain"
    if release.domain.cells(design.first).count > len(m):
        return f"not all cells of its first level, {design.first}, were measured"
    if at_once and sum(release.domain.cells(k).count for k in range(design.first, design.last + 1)) != len(m):
        return "not exactly all cells of its levels were measured"
    if np.any((m.counts > FARTHEST) | (m.counts < -FARTHEST)):
        return "its counts are out of range"
    if (m.deviations is None) == (release.mechanism.trusted == "nobody"):
        return "its noise is not that of the trust model that it claims"
    if m.deviations is not None and np.any((m.deviations < 1) | (m.deviations > FARTHEST)):
        return "its noise is out of range"
    asked_for: list[tuple[Ints, Ints, Ints]] = []

    def answer(asked: Question) -> Ints:
        found = m.answers(asked)
        if found is None:
            raise _NotMeasuredError(f"the cells measured at level {asked.level} are not those that its design measures")
        asked_for.append((np.full(len(found), asked.level), asked.cells, np.full(len(found), asked.share)))
        return found

    try:
        walk(design, release.domain, release.epsilon, answer)
    except _NotMeasuredError as problem:
        return str(problem)
    expected = np.concatenate(asked_for, axis=1)
    there = np.stack([m.levels, m.codes, m.shares])
    if not np.array_equal(expected[:, np.lexsort(expected)], there[:, np.lexsort(there)]):
        return "it has measurements that its design does not make"
    return None
