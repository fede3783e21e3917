"""The command line: a thin layer over the library, one module a command, each imported only when called."""

from __future__ import annotations

import errno
import signal
import sys
from difflib import get_close_matches
from importlib import import_module

import click

from dpheatmap import __version__
from dpheatmap._util.duckdb_connection import interruptible
from dpheatmap._util.interrupt import INTERRUPTED, SAYING, restore_interrupt
from dpheatmap.cli.terminal import doubts_as_lines
from dpheatmap.errors import BrokenRecord, DpheatmapError

COMMANDS = {
    "demo": "A whole run on generated people.",
    "app": "From a file to a published map, in the browser.",
    "inspect": "Columns of a table, and which might be person, x and y.",
    "discover": "Find a box around people privately, for a part of the budget.",
    "plan": "What a release will show, before any data is read.",
    "release": "Measure where people are, under differential privacy.",
    "series": "A release a day, within one limit for all days.",
    "sql": "The aggregation as SQL, for a warehouse to run.",
    "export": "Make maps from a release; costs no budget.",
    "areas": "How many people are in districts or other areas; costs no budget.",
    "sample": "Synthetic points for tools that want points; costs no budget.",
    "serve": "Tiles, areas and pages of releases for web maps and GIS.",
    "cluster": "Find k places near people in a release; costs no budget.",
    "label": "What a release promises, in words or for the public registry.",
    "ledger": "What was spent on which people, and how much may be.",
    "collect": "Devices send, and no curator sees their data.",
    "audit": "Try to refute the promise on this installation.",
    "compare": "Judge every method on your own data, privately.",
    "reproduce": "The paper's experiments, with their figures.",
}


class LazyGroup(click.Group):
    """A group that lists its commands by name and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a new user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself, imported now."""
        if cmd_name not in COMMANDS:
            for meant in get_close_matches(cmd_name, COMMANDS, 1) if not ctx.resilient_parsing else ():
                ctx.fail(f"There is no command {cmd_name!r}. Did you mean {meant!r}?")
            return None
        command: click.Command = import_module(f"dpheatmap.cli.{cmd_name}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dpheatmap")
def cli() -> None:
    """Heatmaps of where people are, not who they are.

    From a table of (person, x, y) to a map under user-level differential privacy. Start with: dpheatmap demo
    """


def main() -> None:
    """Run the command line and end with its exit code; SIGTERM cleans up as Ctrl-C does."""
    restore_interrupt()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; errors become one message on stderr and an exit code."""
    try:
        with interruptible(), doubts_as_lines():
            cli.main(arguments, prog_name="dpheatmap", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DpheatmapError as error:
        click.echo(f"Error: {error}", err=True)
        if isinstance(error, BrokenRecord) and sys.stderr.isatty() and "--json" not in arguments:
            click.echo(f"For your eyes only: {error.place}", err=True)
        return error.exit_code
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        click.echo(f"Error: The answer could not be written: {error.strerror}. Send it to another place.", err=True)
        return DpheatmapError.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo(SAYING, err=True)
        return INTERRUPTED
    return 0
