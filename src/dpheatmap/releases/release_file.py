"""Release files: one Parquet file a release, which any tool opens; see `docs/reference/release-format.md`.

The rows are the measurements; the metadata, as JSON under the key ``dpheatmap``, holds everything public about how they
were made. Nothing in the file depends on the data except through the noisy counts.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap._util.database_url import is_database, public_url
from dpheatmap._util.duckdb_connection import connect
from dpheatmap._util.files import not_a_pattern, replace_whole
from dpheatmap._util.parameters import DEEPEST, as_epsilon
from dpheatmap.design import privacy_loss
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.design import AskingDesign, Question, asks
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import ConcentratedLoss, PrivacyLoss
from dpheatmap.design.registry import read_design
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS, in_whole_units
from dpheatmap.errors import DpheatmapError, ReleaseFileError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, encode
from dpheatmap.releases.ladder_shape import problem_of_ladder
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import (
    DISCRETE_GAUSSIAN,
    LAPLACE,
    DiscreteGaussianNoise,
    GaussianNoise,
    LaplaceNoise,
    NoiseLaw,
    decision_loss,
    fits,
)
from dpheatmap.releases.release import LedgerEntry, Release
from dpheatmap.releases.trust import CURATOR, PERSON, Trust

if TYPE_CHECKING:
    from dpheatmap.releases.sliced_release import SlicedRelease

FORMAT, COLLECTED, SLICED, GAUSSIAN, SERVED = 5, 2, 3, 4, 5
"""The newest format; those of collected and of sliced releases, of Gaussian noise, and of servers that ask questions. A
curator's other releases have format 1."""
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
NEIGHBOURS_BY_RHO = "add or remove one person's whole data; replacing one person's data costs twice rho"
"""With Gaussian noise: p - p' units in a cell cost at most |p - p'| of its part of rho, in units of W, so p + p' do."""
COLUMNS = {
    "level": "TINYINT", "x": "INTEGER", "y": "INTEGER", "noisy_count": "BIGINT", "budget_share": "BIGINT",
}  # fmt: skip
_DEVIATION = {"noise_deviation": "BIGINT"}
_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}


def write(release: Release, path: str | PathLike[str]) -> None:
    """Write the release, whole or not at all."""
    measurements = release.columns()
    write_table(
        measurements, {name: kind for name, kind in (COLUMNS | _DEVIATION).items() if name in measurements},
        describe(release), path,
    )  # fmt: skip


def write_table(
    measurements: Mapping[str, Ints],
    kinds: Mapping[str, str],
    description: Mapping[str, Any],
    path: str | PathLike[str],
) -> None:
    """Write columns of measurements and the description of their release, whole or not at all."""
    import duckdb

    chosen = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds.items())
    metadata = json.dumps(description, ensure_ascii=True).replace("'", "''")
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

    trust, noise, loss = release.trust, release.noise, release.loss
    # Where nobody was trusted, shares are those of the people, and each of them spends all of epsilon on one level.
    part = (lambda share: loss.epsilon) if trust.who == "nobody" else loss.part
    return {
        "format": _format_of(release),
        "software": f"dpheatmap {__version__}",
        "made": release.made.isoformat(),
        "domain": release.domain.to_dict(),
        **privacy_loss.to_dict(loss),
        **unit_of(trust, loss),
        "trusted": trust.who,
        "participants": trust.participants,
        "design": release.design.name,
        "units_per_person": release.units,
        "shares_of_epsilon": SHARES,
        "noise": {
            "family": noise.family,
            "law": noise.law,
            "summed": int(noise.summed) if noise.summed.denominator == 1 else str(noise.summed),
        },
        **release.design.to_dict(part),
        "seeded": release.seeded,
        "ledger": None if release.ledger is None else release.ledger._asdict(),
        "label": dict(release.label),
    }


def unit_of(trust: Trust, loss: PrivacyLoss) -> dict[str, str]:
    """What is protected: which tables are neighbours, and the unit if it is not a person."""
    by_rho = isinstance(loss, ConcentratedLoss)
    if trust.unit == PERSON:
        return {"neighbours": NEIGHBOURS_BY_RHO if by_rho else NEIGHBOURS[trust.who]}
    twice = "twice rho" if by_rho else "twice epsilon"
    return {"neighbours": f"add or remove one {trust.unit}; replacing one costs {twice}", "unit": trust.unit}


def curator(metadata: Mapping[str, Any]) -> Trust:
    """The trust model of a curator's release, with what it protects."""
    return Trust(unit=metadata.get("unit", PERSON))


def _format_of(release: Release) -> int:
    """The oldest format that tells a release."""
    if isinstance(release.noise, DiscreteGaussianNoise):
        return GAUSSIAN
    if not release.trust.collected:
        return 1
    return COLLECTED if release.design.at_once else SERVED


def _trust(metadata: Mapping[str, Any]) -> tuple[Trust, NoiseLaw]:
    """The trust model and the law of the noise. Files of format 1 don't name them: a curator, and Laplace noise."""
    if metadata["format"] < COLLECTED:
        return curator(metadata), LAPLACE
    if metadata["format"] == GAUSSIAN:
        if metadata["trusted"] != CURATOR.who or metadata["noise"]["family"] != DISCRETE_GAUSSIAN.family:
            raise ValueError("the noise is not that of the format")
        return curator(metadata), DISCRETE_GAUSSIAN
    participants = metadata["participants"]
    if type(participants) is not int:
        raise ValueError("the number of participants is not a whole number")
    trust, summed = Trust(metadata["trusted"], participants), as_epsilon(metadata["noise"]["summed"])
    noise = GaussianNoise(summed) if trust.who == "nobody" else LaplaceNoise(summed)
    if not fits(trust, noise):
        raise ValueError("the noise is not that of the trust model")
    return trust, noise


def read(path: str | PathLike[str]) -> Release | SlicedRelease:
    """Read and check a release file."""
    name = Path(fspath(path)).name
    metadata, columns = _contents(path, name)
    if is_sliced(metadata):
        from dpheatmap.releases import sliced_file

        return sliced_file.release_of(metadata, columns, name)
    return release_of(metadata, columns, name)


def is_sliced(metadata: Any) -> bool:
    """Whether a file's metadata is that of a sliced release."""
    return isinstance(metadata, dict) and metadata.get("format") == SLICED


def release_of(metadata: Mapping[str, Any], columns: Mapping[str, Ints], name: str) -> Release:
    """Make the release that metadata and columns describe, after checking them."""
    if not isinstance(metadata.get("format"), int) or metadata["format"] > FORMAT:
        raise ReleaseFileError(
            f"{name} is of format {metadata.get('format')!r}, and this version reads up to {FORMAT}. Update dpheatmap."
        )
    try:
        release = _from_metadata(metadata, columns)
        problem = problem_of(release)
    except (LookupError, TypeError, ValueError, ArithmeticError, MemoryError, DpheatmapError) as error:
        raise ReleaseFileError(f"{name} is damaged: its metadata can't be understood. Get a fresh copy.") from error
    if problem:
        raise ReleaseFileError(f"{name} is damaged or was altered: {problem}. Get a fresh copy.")
    return release


def _contents(path: str | PathLike[str], name: str) -> tuple[dict[str, Any], dict[str, Ints]]:
    import duckdb

    if not Path(path).is_file():
        missing = public_url(fspath(path), "database") if is_database(path) else fspath(path)
        raise ReleaseFileError(f"There is no file {missing!r}. Check the path.")
    file = not_a_pattern(path)
    with connect(memory_limit=_MEMORY) as con:
        try:
            (rows,) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [file]).fetchone() or (0,)
            row = con.execute("SELECT value FROM parquet_kv_metadata(?) WHERE decode(key) = ?", [file, KEY]).fetchone()
            if row is None:
                raise ReleaseFileError(f"{name} is a Parquet file but not a release. Make one with dpheatmap release.")
            metadata = json.loads(row[0])
            most = _MOST_COLLECTED if _is_collected(metadata) else _FEW_ROWS + Path(path).stat().st_size
            if rows > most:
                raise ReleaseFileError(
                    f"{name} is damaged: it has more rows than a release of its size can have. Get a fresh copy."
                )
            wanted = [
                *COLUMNS,
                *(_DEVIATION if _has_deviations(metadata) else ()),
                *(("family", "slice") if is_sliced(metadata) else ()),
            ]
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


def _is_collected(metadata: Any) -> bool:
    return isinstance(metadata, dict) and metadata.get("trusted", CURATOR.who) != CURATOR.who


def _has_deviations(metadata: Any) -> bool:
    return isinstance(metadata, dict) and metadata.get("trusted") == "nobody"


def codes_of(columns: Mapping[str, Ints]) -> Ints:
    """The Morton codes of a file's cells."""
    if any(np.any((columns[c] < 0) | (columns[c] >= 2**DEEPEST)) for c in ("x", "y")):
        raise ValueError("a cell lies outside the deepest level")
    return encode(columns["x"], columns["y"])


def _from_metadata(metadata: Mapping[str, Any], columns: Mapping[str, Ints]) -> Release:
    codes = codes_of(columns)
    trust, noise = _trust(metadata)
    order = np.lexsort((codes, columns["level"]))  # a cell's measurements stay in the order of the file
    return Release(
        domain=Domain.from_dict(metadata["domain"]),
        loss=privacy_loss.from_dict(metadata),
        measurements=Measurements(
            columns["level"][order],
            codes[order],
            columns["noisy_count"][order],
            columns["budget_share"][order],
            columns["noise_deviation"][order] if _has_deviations(metadata) else None,
        ),
        design=read_design(metadata),
        units=int(metadata["units_per_person"]),
        seeded=bool(metadata["seeded"]),
        made=datetime.fromisoformat(metadata["made"]),
        ledger=ledger_entry(metadata.get("ledger")),
        trust=trust,
        noise=noise,
    )


def ledger_entry(entry: Any) -> LedgerEntry | None:
    """The entry of the ledger that the release was charged to, if there is one."""
    if entry is None:
        return None
    number, head = entry["number"], entry["head"]
    if type(number) is not int or number < 1 or not re.fullmatch("[0-9a-f]{64}", head):
        raise ValueError("not an entry of a ledger")
    return LedgerEntry(number, head)


class _NotMeasuredError(Exception):
    """The file lacks the answer to a question of the design."""


def problem_of(release: Release) -> str | None:
    """The first rule that the release breaks, in words, or None."""
    m, design = release.measurements, release.design
    at_once = design.at_once
    if not _has_its_design(release):
        return "its design is not one for the trust model that it claims"
    gaussian = isinstance(release.noise, DiscreteGaussianNoise)
    if gaussian != isinstance(release.loss, ConcentratedLoss):
        return "its noise does not give the promise that it states"
    units = 0 < release.units <= UNITS if release.trust.collected else release.units == UNITS
    if (
        not units
        or not 0 <= release.delta < 1
        or (release.delta > 0 and not gaussian and release.trust.who != "shuffler")
    ):
        return "its units or delta are not those of this format"
    if design.last > release.domain.depth:
        return "its levels don't fit its domain"
    if release.domain.count(design.first) > len(m):
        return f"not all cells of its first level, {design.first}, were measured"
    if at_once and sum(release.domain.count(k) for k in range(design.first, design.last + 1)) != len(m):
        return "not exactly all cells of its levels were measured"
    if np.any((m.counts > FARTHEST) | (m.counts < -FARTHEST)):
        return "its counts are out of range"
    if (m.deviations is None) == (release.trust.who == "nobody"):
        return "its noise is not that of the trust model that it claims"
    if m.deviations is not None and np.any((m.deviations < 1) | (m.deviations > FARTHEST)):
        return "its noise is out of range"
    if isinstance(design, LadderDesign):
        if gaussian:
            return "its design is not one for Gaussian noise"
        return problem_of_ladder(design, release.domain, release.epsilon, m)
    assert asks(design)
    return _problem_of_questions(design, release)


def _has_its_design(release: Release) -> bool:
    """Whether the design is one of the trust model: servers may ask, or measure all at once as they did before."""
    if release.trust.who == "servers":
        return release.design.at_once or isinstance(release.design, AdaptiveDesign)
    return release.design.at_once == release.trust.collected


def _problem_of_questions(design: AskingDesign, release: Release) -> str | None:
    """Walk through a design's questions again."""
    from dpheatmap.curator import walk

    m, asked_for = release.measurements, list[tuple[Ints, Ints, Ints]]()

    def answer(asked: Question) -> Ints:
        found = m.answers(asked)
        if found is None:
            raise _NotMeasuredError(f"the cells measured at level {asked.level} are not those that its design measures")
        asked_for.append((np.full(len(found), asked.level), asked.cells, np.full(len(found), asked.share)))
        return in_whole_units(found, release.units)

    try:
        walk(design, release.domain, decision_loss(release.loss, release.noise), answer)
    except _NotMeasuredError as problem:
        return str(problem)
    expected = np.concatenate(asked_for, axis=1)
    there = np.stack([m.levels, m.codes, m.shares])
    if not np.array_equal(expected[:, np.lexsort(expected)], there[:, np.lexsort(there)]):
        return "it has measurements that its design does not make"
    return None
