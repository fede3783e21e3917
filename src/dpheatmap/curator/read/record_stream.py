"""Text files as a relation that DuckDB can scan: blocks are read in parallel, and handed over in order.

**Why one person's lines change nobody else's.** A record is read by itself (`csv_records.py`, `json_records.py`), and
lies in exactly one block, whole (`blocks.py`). So the result of reading files is the union of the results of reading
their records, whatever the cuts, the threads and the order. Afterwards DuckDB applies only scalar functions of single
rows (casts, ``where``).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator.read import kernels
from dpheatmap.curator.read.arrow_stream import Batch, stream_capsule
from dpheatmap.curator.read.blocks import SIZE, Block, block_of_file, blocks_of_stream, cut
from dpheatmap.curator.read.text_file import TextFile
from dpheatmap.errors import BrokenRecord, DataError

FILE = "file"
"""The last column of a stream: which file a row is from, by its number from 1."""

THREADS = "dpheatmap-records"
"""The prefix of the names of threads that read records."""

LINE = "line"
"""What a record of a text file is called."""
_PROBLEMS = {
    kernels.TOO_LONG: "is longer than 2 MiB",
    kernels.NOT_UTF8: "is not UTF-8",
    kernels.OPEN_QUOTE: "has a quote that does not close on it",
    kernels.OTHER_FIELDS: "has more or fewer fields than the header, or a quote out of place",
    kernels.NOT_AN_OBJECT: "is not one JSON object",
}


def column(number: int) -> str:
    """The name of a column in a stream. The names in a file are arbitrary, and may be those that we use ourselves."""
    return f"column{number}"


class Parser(Protocol):
    """A parser of a block's records to rows."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns."""
        ...

    @property
    def record(self) -> str:
        """What a record is called."""
        ...

    @property
    def refused(self) -> frozenset[int]:
        """The problems of a record that refuse all of its file."""
        ...

    @property
    def broken(self) -> str:
        """A sentence about what may be wrong with a record, and what to do."""
        ...

    def rows(
        self, block: Block, views: NDArray[np.uint64], valid: NDArray[np.uint8], tally: NDArray[np.int64]
    ) -> int:  # fmt: skip
        """Write the values of each column, and return how many rows there are."""
        ...


class _Read(NamedTuple):
    """The reading of a block: its tally, where it is from, and the bytes of all files that have been read by then."""

    tally: NDArray[np.int64]
    origin: int
    file: TextFile
    bytes_done: int


Task = Callable[[], tuple[Batch, _Read]]


@dataclass(eq=False)
class RecordStream:
    """Files of records, for DuckDB to scan as often as it likes, one scan at a time.

    ``skip`` leaves broken records out; otherwise the first one stops the scan, and ``problem`` tells why. ``broken``
    and ``empty`` are the numbers of the last whole scan, and ``done`` is the part of the files that has been read.
    """

    files: Sequence[TextFile]
    parser: Parser
    skip: bool
    threads: int
    size: int = SIZE
    broken: int = 0
    empty: int = 0
    done: float = 0.0
    problem: BaseException | None = None
    first_broken: _Read | None = None
    _total: int = field(init=False)

    def __post_init__(self) -> None:
        self._total = max(1, sum(os.stat(file.path).st_size for file in self.files))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Start a new scan."""
        names = [column(k) for k in range(len(self.parser.columns))]
        return stream_capsule([*names, FILE], self.batches, self._stop)

    def _stop(self, problem: BaseException) -> None:
        self.problem = problem

    def cancel(self) -> None:
        """End the scan soon, as if the files ended here; whoever scans learns of it afterwards."""
        self.problem = self.problem or KeyboardInterrupt()

    def batches(self) -> Generator[Batch, None, None]:
        """The rows of all files, block by block."""
        tally = np.zeros(kernels.TALLIES, np.int64)
        self.first_broken = None
        with closing(_in_order(self._tasks(), self.threads)) as results:
            for batch, read in results:
                if self.problem is not None:
                    return
                if read.tally[kernels.BROKEN] and int(read.tally[kernels.PROBLEM]) in self.parser.refused:
                    raise DataError(f"{read.file.name!r} is not whole, or not what its ending says. Export it anew.")
                if read.tally[kernels.BROKEN] and self.first_broken is None:
                    self.first_broken = read
                    if not self.skip:
                        what = f"A {self.parser.record} of {read.file.name!r} is broken"
                        raise BrokenRecord(f"{what}: {self.parser.broken}", self.place())
                tally += read.tally
                self.done = min(1.0, read.bytes_done / self._total)
                if batch.rows:
                    yield batch
        self.broken, self.empty = int(tally[kernels.BROKEN]), int(tally[kernels.EMPTY])

    def place(self) -> str:
        """The first broken line, and why, for the data holder's eyes only. Empty if there is none."""
        read = self.first_broken
        if read is None:
            return ""
        number = read.file.line_number(read.origin + int(read.tally[kernels.PLACE]))
        problem = _PROBLEMS[int(read.tally[kernels.PROBLEM])] if self.parser.record == LINE else "can't be read"
        return f"{self.parser.record.capitalize()} {number} of {read.file.name} {problem}."

    def _tasks(self) -> Iterator[Task]:
        before = 0
        for number, file in enumerate(self.files, 1):
            if file.can_be_cut:
                for begin, end in cut(file.path, file.start, self.size):
                    yield partial(self._read_part, file, number, begin, end, before + end)
            else:
                with closing(file.open()) as opened:
                    for block in blocks_of_stream(opened, file.start, self.size):
                        yield partial(self._read, block, number, file, before + opened.bytes_done)
            before += os.stat(file.path).st_size

    def _read_part(
        self, file: TextFile, number: int, begin: int, end: int, bytes_done: int
    ) -> tuple[Batch, _Read]:  # fmt: skip
        try:
            block = block_of_file(file.path, file.start, begin, end)
        except OSError as error:
            raise DataError(
                f"{Path(file.path).name!r} can't be read any more: {error.strerror}. Check the file, and start again."
            ) from error
        return self._read(block, number, file, bytes_done)

    def _read(self, block: Block, number: int, file: TextFile, bytes_done: int) -> tuple[Batch, _Read]:
        columns, rows = len(self.parser.columns), block.most_rows
        views = np.empty((columns + 1, rows, 2), np.uint64)
        valid = np.zeros((columns + 1, (rows + 7) // 8), np.uint8)
        tally = np.zeros(kernels.TALLIES, np.int64)
        rows = self.parser.rows(block, views[:columns], valid[:columns], tally)
        views[columns], valid[columns] = _short_view(str(number)), 255
        return Batch(rows, views, valid, block.data), _Read(tally, block.origin, file, bytes_done)


@contextmanager
def own_problem(stream: RecordStream | None) -> Iterator[None]:
    """Raise the error that stopped a stream, which DuckDB saw as its end. Every scan of a stream is inside of this."""
    problem: BaseException | None = None
    try:
        yield
    except DataError as error:
        problem = error
    if stream is not None and stream.problem is not None:
        problem = stream.problem
    if problem is not None:
        raise problem


def _short_view(text: str) -> NDArray[np.uint64]:
    """A text of at most 12 bytes as an Arrow view."""
    raw = text.encode()
    return np.frombuffer(len(raw).to_bytes(4, "little") + raw.ljust(12, b"\0"), np.uint64)


def _in_order(tasks: Iterator[Task], threads: int) -> Generator[tuple[Batch, _Read], None, None]:
    """Yield the results of tasks in their order, while as many tasks run as there are threads."""
    with ThreadPoolExecutor(threads, THREADS) as pool:
        begun: deque[Future[tuple[Batch, _Read]]] = deque()
        try:
            for task in tasks:
                begun.append(pool.submit(task))
                if len(begun) > threads:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)  # waits for the running ones
