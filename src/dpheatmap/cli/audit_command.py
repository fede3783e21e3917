"""``dpheatmap audit``: try to refute the promise on this installation, or attack a release."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from dpheatmap import __version__
from dpheatmap._util.files import replace_whole
from dpheatmap.cli import terminal
from dpheatmap.cli.shared_options import check_outputs, json_option
from dpheatmap.errors import DpheatmapError, ParameterError

if TYPE_CHECKING:
    from dpheatmap.evaluate.audit.membership import Attack

REPORTS = (".html", ".json")
FIGURES = (".png", ".svg", ".pdf", ".json")


@click.command("audit")
@click.argument("releases", metavar="[RELEASE]...", nargs=-1)
@click.option(
    "--attack", "attacking", is_flag=True,
    help="Attack releases of the same kind as each RELEASE: who can tell whether somebody took part?",
)  # fmt: skip
@click.option("--epsilon", default="2", show_default=True, help="The epsilon of the releases that are audited.")
@click.option("--design", "designs", multiple=True, help="A design to audit, ladder by default; may be repeated.")
@click.option(
    "--false-alarm", type=click.FloatRange(1e-12, 0.5), default=1e-6, show_default=True, metavar="RATE",
    help="The probability that a sound installation is called unsound.",
)  # fmt: skip
@click.option(
    "--effort", type=click.FloatRange(0.001, 1000), default=1.0, show_default=True,
    help="Multiplies the numbers of runs; 1 takes a minute or two on two cores.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE",
    help="A report to write: .html (with the plot) or .json; of an attack, a figure (.png, .svg or .pdf) or .json.",
)  # fmt: skip
@click.option("--colours", help="The ground of the figure of an attack: light, as by default, or dark.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    releases: tuple[str, ...],
    attacking: bool,
    epsilon: str,
    designs: tuple[str, ...],
    false_alarm: float,
    effort: float,
    output: str | None,
    colours: str | None,
    as_json: bool,
) -> None:
    """Try to refute the promise on this installation, and report what was found.

    Releases invented data sets that differ by one person, many thousand times, and bounds from below how much of
    epsilon shows: in releases with and without options for experts, from one file and from several, of several images
    together, and in the search of a box. It reads no data of yours. Ends with exit code 1 if the promise is refuted.

    With --attack it plays the attacker on a release of yours. People are invented from its published map, released many
    times in the same way, without and with one more, and the attacker guesses which it was. The figure says how many of
    100 guesses are right, beside what the promise allows. Several RELEASE files are taken as being about the same
    people. Examples:

    \b
    dpheatmap audit -o audit.html
    dpheatmap audit --attack trips.dph.parquet -o attack.png
    """
    if attacking:
        for name in ("epsilon", "designs"):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                option = name.removesuffix("s")
                raise ParameterError(f"An attack takes the {option} from the release. Leave --{option} out.")
        _attack(releases, false_alarm, effort, output, colours, as_json)
    elif releases or colours:
        what = "A RELEASE" if releases else "--colours"
        raise ParameterError(f"{what} goes with --attack, and it is missing. Add it, or leave the other out.")
    else:
        _audit(epsilon, designs, false_alarm, effort, output, as_json)


def _audit(
    epsilon: str, designs: Sequence[str], false_alarm: float, effort: float, output: str | None, as_json: bool
) -> None:
    from dpheatmap.evaluate.audit.audit import DESIGNS, audit
    from dpheatmap.evaluate.audit.audit_report import as_html, as_text

    if output is not None:
        check_outputs((output,), REPORTS)
    with terminal.progress("Auditing") as tick:
        found = audit(epsilon, designs=designs or DESIGNS, false_alarm=false_alarm, effort=effort, progress=tick)
    if output is not None:
        html = output.lower().endswith(".html")
        text = as_html(found, f"dpheatmap {__version__}") if html else json.dumps(found.to_dict(), indent=2)
        with replace_whole(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
    terminal.answer(as_json, found.to_dict(), as_text(found))
    if found.refuted:
        raise DpheatmapError(f"{found.verdict} Publish nothing made with this installation, and report it.")


def _attack(
    paths: Sequence[str], false_alarm: float, effort: float, output: str | None, colours: str | None, as_json: bool
) -> None:
    from dpheatmap._util.parameters import check
    from dpheatmap.evaluate.audit.attack_words import as_text, verdict
    from dpheatmap.evaluate.audit.membership import attack
    from dpheatmap.releases.release import load
    from dpheatmap.render.figure.figure_file import refuse_picture

    if not paths:
        raise ParameterError("An attack needs a release, and none was named. Give its file, such as june.dph.parquet.")
    if colours is not None:
        check(colours=colours)
    if output is not None:
        check_outputs((output,), FIGURES, read=paths)
        if not _is_json(output):
            refuse_picture(Path(output).suffix.lower())
    releases = [load(path) for path in paths]
    with terminal.progress("Attacking") as tick:
        found = attack(releases, false_alarm=false_alarm, effort=effort, progress=tick)
    if output is not None:
        _write_attack(found, output, colours or "light")
    terminal.answer(as_json, found.to_dict(), as_text(found))
    if found.fails:
        raise DpheatmapError(f"{verdict(found)} Publish nothing made with this installation, and report it.")


def _write_attack(found: Attack, output: str, colours: str) -> None:
    from dpheatmap.evaluate.audit.attack_figure import AttackFigure
    from dpheatmap.render.figure.figure_file import write_figure
    from dpheatmap.render.palette import THEMES

    with replace_whole(output) as temporary:
        if _is_json(output):
            temporary.write_text(json.dumps(found.to_dict(), indent=2), encoding="utf-8")
        else:
            write_figure(AttackFigure(found, THEMES[colours]), temporary, Path(output).suffix.lower())


def _is_json(output: str) -> bool:
    return output.lower().endswith(".json")
