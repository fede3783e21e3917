"""Ctrl-C while the command is still loading, which gives the same line and the same exit code as later.

Python loads the whole package before the first line of a command can run, and shows a traceback if it is interrupted in
that half second. Nothing is open or written by then, so the process may end where it stands. This is set up when the
module is loaded, as the package's first. A program that uses the library keeps its own signal handling: signals are
touched only in the command's process, which is recognised by how Python was started.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path

INTERRUPTED = 130
SAYING = "Interrupted; nothing half-written was left behind."


def restore_interrupt() -> None:
    """Make Ctrl-C an exception again, which cleans up on its way; called when the command begins."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: object) -> None:
    os.write(2, f"\n{SAYING}\n".encode())  # below the ^C of a terminal, as Click does
    os._exit(INTERRUPTED)


def _is_the_command() -> bool:
    """Whether this is the script, or ``python -m dpheatmap``, whose name is "-m" while the package loads."""
    if sys.argv[:1] == ["-m"]:
        return ("-m", "dpheatmap") in itertools.pairwise(sys.orig_argv)
    script = Path(getattr(sys.modules["__main__"], "__file__", None) or "")
    return script.name == "dpheatmap" or script.parent.name == "dpheatmap.exe"


if _is_the_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
