"""``dpheatmap audit``: try to refute the promise on this installation."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dpheatmap import __version__
from dpheatmap.cli import terminal
from dpheatmap.cli.shared_options import json_option
from dpheatmap.errors import DpheatmapError, ParameterError

ENDINGS = (".html", ".json")


@click.command("audit")
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
@click.option("-o", "--output", metavar="FILE", help="A report to write: .html (with the plot) or .json.")
@json_option
def command(
    epsilon: str, designs: tuple[str, ...], false_alarm: float, effort: float, output: str | None, as_json: bool
) -> None:
    """Try to refute the promise on this installation, and report what was found.

    Releases invented data sets that differ by one person, many thousand times, and bounds from below how much of
    epsilon shows: in releases with and without options for experts, from one file and from several, of several images
    together, and in the search of a box. It reads no data of yours. Ends with exit code 1 if the promise is refuted.
    Example:

    \b
    dpheatmap audit -o audit.html
    """
    from dpheatmap._util.files import check_writable, replace_whole
    from dpheatmap.evaluate.audit.audit import DESIGNS, audit
    from dpheatmap.evaluate.audit.audit_report import as_html, as_text

    if output is not None:
        if Path(output).suffix.lower() not in ENDINGS:
            raise ParameterError(f"A report must end in one of {', '.join(ENDINGS)}; it was {output!r}. Choose one.")
        check_writable(output)
    with terminal.progress("Auditing") as tick:
        found = audit(epsilon, designs=designs or DESIGNS, false_alarm=false_alarm, effort=effort, progress=tick)
    if output is not None:
        with replace_whole(output) as temporary:
            html = output.lower().endswith(".html")
            text = as_html(found, f"dpheatmap {__version__}") if html else json.dumps(found.to_dict(), indent=2)
            temporary.write_text(text, encoding="utf-8")
    terminal.answer(as_json, found.to_dict(), as_text(found))
    if found.refuted:
        raise DpheatmapError(f"{found.verdict} Publish nothing made with this installation, and report it.")
