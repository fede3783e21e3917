"""The Arrow C stream interface: batches of text to DuckDB, and of whole numbers from it, without copy or pyarrow.

DuckDB asks an object for a stream each time it scans it. It takes one batch after the other, from whichever of its
threads is free, and releases each batch, and the stream, when it is done with them. What it has not released is kept
here.
"""

from __future__ import annotations

import ctypes as c
import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Batch(NamedTuple):
    """Rows of text columns: Arrow views (two numbers a value), bits that tell values from nulls, and the text."""

    rows: int
    views: NDArray[np.uint64]
    valid: NDArray[np.uint8]
    text: NDArray[np.uint8]


class _Schema(c.Structure):
    pass


class _Array(c.Structure):
    pass


class _Stream(c.Structure):
    pass


_ReleaseSchema, _ReleaseArray, _ReleaseStream = (
    c.CFUNCTYPE(None, c.POINTER(structure)) for structure in (_Schema, _Array, _Stream)
)
_Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64),
    ("n_children", c.c_int64), ("children", c.POINTER(c.POINTER(_Schema))), ("dictionary", c.c_void_p),
    ("release", _ReleaseSchema), ("private_data", c.c_void_p),
]  # fmt: skip
_Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64),
    ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(_Array))),
    ("dictionary", c.c_void_p), ("release", _ReleaseArray), ("private_data", c.c_void_p),
]  # fmt: skip
_GetSchema = c.CFUNCTYPE(c.c_int, c.POINTER(_Stream), c.POINTER(_Schema))
_GetNext = c.CFUNCTYPE(c.c_int, c.POINTER(_Stream), c.POINTER(_Array))
_GetError = c.CFUNCTYPE(c.c_void_p, c.POINTER(_Stream))
_Stream._fields_ = [
    ("get_schema", _GetSchema), ("get_next", _GetNext), ("get_last_error", _GetError), ("release", _ReleaseStream),
    ("private_data", c.c_void_p),
]  # fmt: skip

_NAME = b"arrow_array_stream"
_NO_ERROR = c.create_string_buffer(b"")
_NULLABLE = 2
_UTF8_VIEW, _STRUCT = b"vu", b"+s"

held: dict[int, tuple[Any, ...]] = {}
"""The objects that DuckDB has not released yet, by the number in their structure."""
_numbers = itertools.count(1)


def _hold(*things: Any) -> int:
    number = next(_numbers)
    held[number] = things
    return number


def _let_go(pointer: Any) -> None:
    structure = pointer.contents
    held.pop(structure.private_data, None)
    structure.release = type(structure.release)()


def _close(pointer: Any) -> None:
    """End a stream. The stream does not own this function, because a running function must not free itself."""
    _, generators = held.get(pointer.contents.private_data, (None, ()))
    for generator in generators:
        generator.close()
    _let_go(pointer)


_free_schema, _free_array, _free_stream = _ReleaseSchema(_let_go), _ReleaseArray(_let_go), _ReleaseStream(_close)


def _fill_schema(out: _Schema, names: Sequence[str]) -> None:
    children = (_Schema * len(names))()
    pointers = (c.POINTER(_Schema) * len(names))(*map(c.pointer, children))
    texts = [name.encode() for name in names]
    for child, text in zip(children, texts, strict=True):
        child.format, child.name, child.flags, child.release = _UTF8_VIEW, text, _NULLABLE, _free_schema
    out.format, out.name, out.metadata, out.flags, out.dictionary = _STRUCT, b"", None, 0, None
    out.n_children, out.children, out.release = len(names), pointers, _free_schema
    out.private_data = _hold(children, pointers, texts)


def _fill_array(out: _Array, batch: Batch) -> None:
    columns = len(batch.views)
    children = (_Array * columns)()
    pointers = (c.POINTER(_Array) * columns)(*map(c.pointer, children))
    sizes = np.array([len(batch.text)], np.int64)
    buffers = []
    for child, views, valid in zip(children, batch.views, batch.valid, strict=True):
        addresses = (part.ctypes.data for part in (valid, views, batch.text, sizes))
        buffers.append((c.c_void_p * 4)(*addresses))
        child.length, child.null_count, child.n_buffers, child.buffers = batch.rows, -1, 4, buffers[-1]
        child.release = _free_array
    nothing = (c.c_void_p * 1)(None)
    out.length, out.null_count, out.offset, out.n_buffers, out.dictionary = batch.rows, 0, 0, 1, None
    out.n_children, out.buffers, out.children, out.release = columns, nothing, pointers, _free_array
    out.private_data = _hold(children, pointers, buffers, nothing, sizes, batch)


_PyCapsule_New = c.pythonapi.PyCapsule_New
_PyCapsule_New.restype, _PyCapsule_New.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
_PyCapsule_GetPointer = c.pythonapi.PyCapsule_GetPointer
_PyCapsule_GetPointer.restype, _PyCapsule_GetPointer.argtypes = c.c_void_p, [c.c_void_p, c.c_char_p]


_in_capsules: dict[int, _Stream] = {}
"""The structures that capsules point to. DuckDB moves their contents out, and the capsule may live longer."""


@c.PYFUNCTYPE(None, c.c_void_p)  # type: ignore[untyped-decorator]
def _drop_capsule(capsule: int) -> None:
    """Release a stream that nobody took out of its capsule."""
    stream = _in_capsules.pop(_PyCapsule_GetPointer(capsule, _NAME))
    if stream.release:
        stream.release(c.byref(stream))


def stream_capsule(
    names: Sequence[str],
    batches: Callable[[], Generator[Batch, None, None]],
    failed: Callable[[BaseException], None],
) -> Any:
    """Make a capsule for ``__arrow_c_stream__``: text columns of these names.

    ``batches`` is called when the first batch is wanted, and its generator closed when the stream is released. Its
    errors go to ``failed``, and DuckDB sees the end of the stream: an error would make DuckDB give up its work, where
    it has hung. So whoever scans must check afterwards whether the stream failed.
    """
    generators: list[Generator[Batch, None, None]] = []

    def get_schema(_: Any, out: Any) -> int:
        _fill_schema(out.contents, names)
        return 0

    def get_next(_: Any, out: Any) -> int:
        batch = None
        try:
            if not generators:
                generators.append(batches())
            batch = next(generators[0], None)
        except BaseException as problem:
            failed(problem)
        if batch is None:
            out.contents.release = _ReleaseArray()
        else:
            _fill_array(out.contents, batch)
        return 0

    functions = (_GetSchema(get_schema), _GetNext(get_next), _GetError(lambda _: c.addressof(_NO_ERROR)))
    stream = _Stream(*functions, _free_stream, _hold(functions, generators))
    address = c.addressof(stream)
    _in_capsules[address] = stream
    return _PyCapsule_New(address, _NAME, c.cast(_drop_capsule, c.c_void_p))


_WHOLE: dict[bytes, type[np.signedinteger[Any]]] = {b"i": np.int32, b"l": np.int64}


def _column(child: _Array, kind: type[np.signedinteger[Any]]) -> NDArray[np.signedinteger[Any]]:
    size = child.offset + child.length
    if size == 0:
        return np.empty(0, kind)
    held = (c.c_byte * (size * np.dtype(kind).itemsize)).from_address(child.buffers[1])
    return np.frombuffer(held, kind)[child.offset :]


def whole_numbers(source: Any) -> Generator[list[NDArray[np.signedinteger[Any]]], None, None]:
    """The columns of whole numbers, batch by batch, of an object with ``__arrow_c_stream__``.

    A batch's arrays are gone when the next one is asked for. A stream that fails raises an OSError with its text.
    """
    capsule = source.__arrow_c_stream__()
    stream = _Stream.from_address(_PyCapsule_GetPointer(id(capsule), _NAME))

    def ask(function: Any, out: Any) -> Any:
        if function(c.byref(stream), c.byref(out)) != 0:
            raise OSError(c.string_at(stream.get_last_error(c.byref(stream))).decode(errors="replace"))
        return out

    try:
        schema = ask(stream.get_schema, _Schema())
        kinds = [_WHOLE[schema.children[k].contents.format] for k in range(schema.n_children)]
        schema.release(c.byref(schema))
        while (batch := ask(stream.get_next, _Array())).release:
            try:
                children = [batch.children[k].contents for k in range(batch.n_children)]
                if any(child.null_count for child in children):
                    raise AssertionError("a whole number of the answer is missing; please report this")
                yield [_column(child, kind) for child, kind in zip(children, kinds, strict=True)]
            finally:
                batch.release(c.byref(batch))
    finally:
        stream.release(c.byref(stream))
