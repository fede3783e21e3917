"""A log of finished jobs, so that a killed run resumes where it stopped.

Each job is one line of JSON, appended and flushed when the job is done. The first line identifies the experiment, its
settings and the version. A log of another experiment is set aside, not mixed in. A last line that was cut off by a kill
is ignored. Numbers are written so that they read back the same to the last bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from dpheatmap._util.files import replace_whole
from dpheatmap.evaluate.scores import Scores

ScoresByMethod = dict[str, Scores]
Result = TypeVar("Result")


class JobLog(Generic[Result]):
    """Results by job, on disk, written as JSON and read back by two functions."""

    def __init__(
        self,
        path: Path,
        belongs_to: Mapping[str, object],
        write: Callable[[Result], object],
        read: Callable[[Any], Result],
    ) -> None:
        self._write = write
        self.results: dict[str, Result] = {}
        heading = json.dumps(belongs_to, sort_keys=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if lines[:1] == [heading]:
            self.results = {job: read(result) for job, result in _parse_lines(lines[1:])}
        elif lines:
            os.replace(path, path.with_suffix(f"{path.suffix}.old"))
        with replace_whole(path) as temporary:
            temporary.write_text("\n".join([heading, *map(self._line, self.results)]) + "\n", encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def add(self, key: str, result: Result) -> None:
        """Keep the result of a job."""
        self.results[key] = result
        self._file.write(self._line(key) + "\n")
        self._file.flush()

    def _line(self, key: str) -> str:
        return json.dumps({"job": key, "scores": self._write(self.results[key])})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()


def _as_lists(scores: ScoresByMethod) -> dict[str, list[float]]:
    return {name: list(one) for name, one in scores.items()}


def _as_scores(lists: dict[str, list[float]]) -> ScoresByMethod:
    return {name: Scores(*one) for name, one in lists.items()}


SCORES = _as_lists, _as_scores
"""The functions that write and read scores by method."""


def _parse_lines(lines: list[str]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return  # cut off by a kill
        yield entry["job"], entry["scores"]
