"""Compiled functions, cached on disk where that is possible. The module imports numba, so it is imported late."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba
import numba.extending
from llvmlite import ir
from numba.core.caching import FunctionCache

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Function], Function]:
    """numba's ``njit`` with an optional ``cache=True``: where nothing can be cached, a function is compiled each time.

    numba itself stops where it finds no folder to write to, as in a container that is read-only, and where the disk is
    full. It does so on a function's first call, which in a release comes after the budget was charged.

    >>> @njit(cache=True)
    ... def double(n):
    ...     return 2 * n
    >>> double(21)
    42
    """
    wanted = options.pop("cache", False)

    def decorator(function: Function) -> Function:
        compiled: Any = numba.njit(**options)(function)
        if wanted and compiled is not function:  # they are the same if compiling is switched off
            with suppress(RuntimeError):  # no folder can be written to
                compiled._cache = _ForgivingCache(function)
        return compiled  # type: ignore[no-any-return]

    return decorator


@numba.extending.intrinsic  # type: ignore[untyped-decorator]
def load_eight(context: Any, array: Any, at: Any) -> Any:
    """Load eight bytes from any place of an array as a little-endian number."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, _ = signature.args
        data = context.make_array(array_type)(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        value = builder.load(place)
        value.align = 1
        return value

    return numba.types.uint64(array, numba.types.int64), build


@numba.extending.intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(context: Any, word: Any) -> Any:
    """The number of trailing zero bits of a number that is not 0."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return numba.types.uint64(numba.types.uint64), build


class _ForgivingCache(FunctionCache):  # type: ignore[misc]
    """numba's cache, which compiles anew where a compiled function can't be read, and goes on where none can be kept.

    After an upgrade the cache may hold what an earlier version compiled, for types that are gone: numba would stop at
    the first call.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling another version's types raises
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)
