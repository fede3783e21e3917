"""``dpheatmap label``: what a release promises, in words or as an entry for the public registry of deployments."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import click

from dpheatmap._util.files import replace_whole
from dpheatmap.cli.shared_options import check_outputs, json_option
from dpheatmap.cli.terminal import answer, say
from dpheatmap.errors import DataError, ParameterError
from dpheatmap.releases.label import HEADINGS


@click.command("label")
@click.argument("release")
@click.option("--registry", is_flag=True, help="An entry for the public registry of deployments, tier 3, as YAML.")
@click.option(
    "--about", metavar="FILE",
    help="A .toml of what no release tells: the publisher, the purpose, the day; by the registry's names of fields.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="A file to write: .txt for the label, .yaml for an entry.")
@json_option
def command(release: str, registry: bool, about: str | None, output: str | None, as_json: bool) -> None:
    """Print the privacy label of RELEASE, a .dph.parquet file, or write its entry for the registry.

    The registry is that of OpenDP and its partners. What the release can't know is marked TO FILL IN. Example:

    \b
    dpheatmap label trips.dph.parquet --registry --about about.toml -o city_trips_2026.yaml
    """
    from dpheatmap.releases.release import load

    if about is not None and not registry:
        raise click.UsageError("--about goes with --registry: a label has no place for it.")
    if output is not None:
        check_outputs([output], (".yaml",) if registry else (".txt",), read=(release, about))
        if registry and not re.fullmatch(r"[a-z0-9_]+\.yaml", Path(output).name):
            raise ParameterError(
                f"The registry takes names of small letters, digits and _ before .yaml; it was {Path(output).name!r}. "
                "Give it such a name."
            )
    told = {} if about is None else _facts(about)
    made = load(release)
    text, values = _entry(made, told) if registry else _label(made)
    if output is not None:
        with replace_whole(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
        values["outputs"] = [output]
    answer(as_json, values, text.rstrip("\n") if output is None else output)


def _label(made: Any) -> tuple[str, dict[str, Any]]:
    label = dict(made.label)
    text = "\n".join(f"{heading}: {label[part]}" for part, heading in HEADINGS.items() if part in label)
    return f"{text}\n", {"label": label}


def _entry(made: Any, told: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    from dpheatmap.releases.deployment_entry import blanks_of, deployment_entry, entry_text, without_choices

    entry = deployment_entry(made, told)
    blanks = blanks_of(entry)
    if blanks:
        say(f"Still to fill in: {', '.join(blanks)}.")
    return entry_text(entry, made.made), {"entry": without_choices(entry), "to_fill_in": blanks}


def _facts(path: str) -> dict[str, Any]:
    """What people tell about a release, from a file of theirs."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path!r} can't be read: {error.strerror}. Name another file.") from error
    except ValueError as error:
        raise DataError(f"{path!r} is not TOML. Write lines such as: name = 'Trips in June'") from error
