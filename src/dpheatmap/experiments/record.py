"""A record of finished jobs, so that a killed run goes on where it stopped.

One line of JSON a job, appended and flushed when the job is done. The first line names what the record belongs to: the
experiment, its settings and the version; a record of something else is set aside, not mixed in. A last line that was
cut off by a kill is left out. Numbers are written so that they read back the same to the last bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from dpheatmap.evaluate.scores import Scores
from dpheatmap.files import replace_whole


class Record:
    """Results by job, on disk."""

    def __init__(self, path: Path, belongs_to: Mapping[str, object]) -> None:
        self.results: dict[str, dict[str, Scores]] = {}
        heading = json.dumps(belongs_to, sort_keys=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if lines[:1] == [heading]:
            self.results = dict(_parsed(lines[1:]))
        elif lines:
            os.replace(path, path.with_suffix(f"{path.suffix}.old"))
        with replace_whole(path) as temporary:
            temporary.write_text("\n".join([heading, *map(_line, self.results.items())]) + "\n", encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def add(self, key: str, scores: dict[str, Scores]) -> None:
        """Keep the result of a job."""
        self.results[key] = scores
        self._file.write(_line((key, scores)) + "\n")
        self._file.flush()

    def __enter__(self) -> Record:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()


def _line(entry: tuple[str, dict[str, Scores]]) -> str:
    key, scores = entry
    return json.dumps({"job": key, "scores": {name: list(one) for name, one in scores.items()}})


def _parsed(lines: list[str]) -> list[tuple[str, dict[str, Scores]]]:
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            break  # cut off by a kill
        found.append((entry["job"], {name: Scores(*one) for name, one in entry["scores"].items()}))
    return found
