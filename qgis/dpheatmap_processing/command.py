"""The dpheatmap command: where it is, and how it is run. Nothing of QGIS is used here.

It runs in a Python of its own. What QGIS sets for its own Python, GDAL and PROJ is taken out of its environment: other
versions' files would break it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading

OF_QGIS = ("GDAL_DATA", "GDAL_DRIVER_PATH", "PROJ_DATA", "PROJ_LIB", "PYTHONHOME", "PYTHONPATH")
"""Variables that QGIS sets for itself."""
STEP = 0.2
"""Seconds between two looks at whether the user has cancelled."""


class CommandError(Exception):
    """The command was not found, or failed; the message is for the user."""


class CancelledError(Exception):
    """The user cancelled."""


def find_command(setting):
    """The path of the command: that of the setting, or one on the PATH."""
    if setting:
        found = shutil.which(os.path.expanduser(setting))
        if found is None:
            raise CommandError(
                f"The dpheatmap command of the settings is not there, or can't be run: {setting!r}. Correct it in "
                "Settings, Options, Processing, Providers, dpheatmap."
            )
        return found
    found = shutil.which("dpheatmap")
    if found is None:
        raise CommandError(
            "The dpheatmap command was not found. Install it (pip install 'dpheatmap[geo]'), and name it in Settings, "
            "Options, Processing, Providers, dpheatmap, if it is not on the PATH."
        )
    return found


def run_command(command, arguments, tell=print, progress=None, cancelled=lambda: False):
    """Run the command and return its answer, read from JSON.

    ``tell`` is called with every line for people, ``progress`` with percents, and ``cancelled`` is asked now and then.
    """
    environment = {name: value for name, value in os.environ.items() if name not in OF_QGIS}
    environment["DPHEATMAP_PROGRESS"] = "json"
    windows = sys.platform == "win32"
    process = subprocess.Popen(
        [command, *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
        creationflags=subprocess.CREATE_NEW_PROCESS_GROUP if windows else 0,
    )
    said, answers = [], []
    readers = [
        threading.Thread(target=_listen, args=(process.stderr, said, tell, progress)),
        threading.Thread(target=lambda: answers.append(process.stdout.read())),
    ]
    for reader in readers:
        reader.start()
    stopped = False
    while True:
        try:
            process.wait(STEP)
            break
        except subprocess.TimeoutExpired:
            if cancelled() and not stopped:
                stopped = True
                process.send_signal(signal.CTRL_BREAK_EVENT if windows else signal.SIGINT)
    for reader in readers:
        reader.join()
    process.stdout.close()
    process.stderr.close()
    if stopped:
        raise CancelledError
    if process.returncode != 0:
        raise CommandError(_message(said) or f"dpheatmap ended with the exit code {process.returncode}.")
    try:
        return json.loads(answers[0])
    except ValueError:
        raise CommandError("dpheatmap gave no answer that can be read. Install its newest version.") from None


def _listen(stream, said, tell, progress):
    """Pass on what is said, line by line."""
    for line in stream:
        text = line.rstrip()
        part = _part_in(text)
        if part is None:
            said.append(text)
            if not text.startswith("Error: "):
                tell(text)
        elif progress is not None:
            progress(100.0 * part)


def _part_in(text):
    """The part that is done, if a line tells it; None for lines for people."""
    if not text.startswith('{"progress"'):
        return None
    try:
        return float(json.loads(text)["progress"])
    except (ValueError, TypeError):
        return None


def _message(said):
    """What went wrong: from the last error on, or the last line."""
    errors = [number for number, line in enumerate(said) if line.startswith("Error: ")]
    lines = said[errors[-1] :] if errors else said[-1:]
    return "\n".join(lines)[len("Error: ") if errors else 0 :]
