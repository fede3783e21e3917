"""Compiled functions, cached on disk where that is possible. The module imports numba, so it is imported late."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba
import numba.extending
from llvmlite import ir
from numba.core.caching import FunctionCache, NullCache

from dpheatmap._util.kernel_store import SHIPPED, KernelStore

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
        if compiled is not function:  # they are the same if compiling is switched off
            _forget_literals(compiled)
            if wanted:
                compiled._cache = _KernelCache(function)
        return compiled  # type: ignore[no-any-return]

    return decorator


def _forget_literals(compiled: Any) -> None:
    """Let kernels that call this one with constants share what is compiled for their types.

    numba would compile it anew for each constant, which took half as long again. LLVM still sees the constants where it
    inlines a kernel.
    """
    template = compiled.get_call_template

    def template_of_types(args: Any, kws: Any) -> Any:
        plain = numba.types.unliteral
        return template(tuple(plain(one) for one in args), {name: plain(one) for name, one in kws.items()})

    compiled.get_call_template = template_of_types


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


@numba.extending.intrinsic  # type: ignore[untyped-decorator]
def multiply_add(context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The low and the high word of a b + c + d, which is below 2^128 for any four words."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, word = ir.IntType(128), ir.IntType(64)
        a, b, c, d = (builder.zext(argument, wide) for argument in arguments)
        total = builder.add(builder.mul(a, b), builder.add(c, d))
        parts = [builder.trunc(total, word), builder.trunc(builder.lshr(total, ir.Constant(wide, 64)), word)]
        return context.make_tuple(builder, signature.return_type, parts)

    word = numba.types.uint64
    return numba.types.UniTuple(word, 2)(word, word, word, word), build


class _KernelCache(NullCache):  # type: ignore[misc]
    """The kernels that were shipped, then numba's own cache.

    What can't be read is compiled anew, and what can't be kept is not. After an upgrade numba's cache may hold what an
    earlier version compiled, for types that are gone: numba would stop at the first call.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._own: Any = NullCache()
        with suppress(RuntimeError):  # no folder can be written to
            self._own = FunctionCache(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        with suppress(Exception):  # whatever unpickling raises
            shipped = KernelStore(SHIPPED).load(self._function, sig, target_context)
            if shipped is not None:
                return shipped
        try:
            return self._own.load_overload(sig, target_context)
        except Exception:  # whatever unpickling another version's types raises
            with suppress(OSError):
                self._own.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            self._own.save_overload(sig, data)
