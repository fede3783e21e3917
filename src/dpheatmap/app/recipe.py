"""The command line and the Python code equivalent to a release of the app."""

from __future__ import annotations

import shlex
from typing import Any

from dpheatmap.app.file_names import public_name
from dpheatmap.app.release_shelf import Record

_OPTIONS = {"time_zone": "time-zone", "start": "from", "end": "to"}
"""The options of the command line that are called otherwise than those of `release`."""


def recipe(record: Record, sigma: float | None = None) -> dict[str, str]:
    """The command line and the Python code, with the names and values that were chosen."""
    return {"command": command(record, sigma), "python": python(record, sigma)}


def command(record: Record, sigma: float | None) -> str:
    """The command line."""
    wanted = record.wanted
    words = ["dpheatmap", "release", _file(record), "--epsilon", wanted["epsilon"]]
    for name, value in _columns(wanted).items():
        words += [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
    words += ["--each-row-is-a-person"] if wanted["columns"]["user"] is None else []
    words += ["--bad-lines", "skip"] if _is_text(record) else []
    words += _place(wanted["place"])
    words += [f"--{_OPTIONS.get(name, name)}={value}" for name, value in _slices(wanted).items() if name != "groups"]
    words += _groups(_slices(wanted).get("groups", []))
    words += [f"--population={wanted['population']}"]
    words += ["--sigma", f"{sigma:g}"] if sigma is not None else []
    words += [f"--title={record.title}"] if record.title else []
    words += ["-o", public_name(record, ".dph.parquet"), "-o", public_name(record, ".html")]
    return shlex.join(words)


def python(record: Record, sigma: float | None) -> str:
    """The Python code."""
    wanted = record.wanted
    columns = "".join(f", {name}={value!r}" for name, value in _columns(wanted).items())
    columns += ", each_row_is_a_person=True" if wanted["columns"]["user"] is None else ""
    columns += ", bad_lines='skip'" if _is_text(record) else ""
    slices = "".join(f"{name}={value!r}, " for name, value in _slices(wanted).items())
    title = f", title={record.title!r}" if record.title else ""
    smoothing = "" if sigma is None else f"sigma={sigma:g}"
    return "\n".join(
        [
            "import dpheatmap as dph",
            "",
            f"domain = {_domain(wanted['place'])}",
            "release = dph.release(",
            f"    {_file(record)!r}, domain, epsilon={wanted['epsilon']!r}{columns},",
            *([f"    {slices.rstrip()}"] if slices else []),
            f"    ledger=dph.Ledger.default_place(), population={wanted['population']!r},",
            ")",
            f"release.save({public_name(record, '.dph.parquet')!r})",
            f"release.heatmap({smoothing}).save({public_name(record, '.html')!r}{title})",
            "",
        ]
    )


def _columns(wanted: dict[str, Any]) -> dict[str, str]:
    return {name: value for name, value in wanted["columns"].items() if value is not None}


def _slices(wanted: dict[str, Any]) -> dict[str, Any]:
    """The options of `release` for slices; none for one map."""
    found: dict[str, Any] = wanted.get("slices", {})
    return found


def _groups(names: list[str]) -> list[str]:
    """The list of groups; on the command line, names with commas stand in a file, one a line."""
    if not any("," in name for name in names):
        return [f"--groups={','.join(names)}"] if names else []
    return ["--groups-file", "groups.txt"]


def _file(record: Record) -> str:
    """The path that was given, or the name of the upload; never one that looks like an option."""
    name = str(record.wanted.get("path") or record.file)
    return f"./{name}" if name.startswith("-") else name


def _is_text(record: Record) -> bool:
    return not record.file.lower().endswith((".parquet", ".pq"))


def _place(place: dict[str, Any]) -> list[str]:
    if place["kind"] == "bbox":
        box = ",".join(repr(edge) for edge in place["bounds"])
        resolution = place.get("resolution")
        return [f"--bbox={box}", *([] if resolution is None else ["--resolution", repr(resolution)])]
    return ["--unit"] if place["kind"] == "unit" else ["--image", "x".join(str(side) for side in place["size"])]


def _domain(place: dict[str, Any]) -> str:
    if place["kind"] == "bbox":
        resolution = place.get("resolution")
        box = ", ".join(repr(edge) for edge in place["bounds"])
        return f"dph.Domain.bbox({box}{'' if resolution is None else f', resolution={resolution!r}'})"
    if place["kind"] == "unit":
        return "dph.Domain.unit()"
    return f"dph.Domain.image({', '.join(str(side) for side in place['size'])})"
