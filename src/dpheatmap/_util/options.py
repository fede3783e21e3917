"""Options that several functions share: declared once, as a frozen dataclass, and shown wherever they are taken."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")


def option_fields(kind: type) -> dict[str, Field[Any]]:
    """The fields of a dataclass that its constructor takes, by name."""
    return {one.name: one for one in fields(kind) if one.init}


def take_options(kind: type[Value], given: Mapping[str, Any], by: str) -> Value:
    """The dataclass of options that were given to a function of this name; an unknown one is a TypeError of its own.

    >>> take_options(complex, {"sky": 1}, "paint")
    Traceback (most recent call last):
    ...
    TypeError: paint() got an unexpected keyword argument 'sky'
    """
    known = option_fields(kind) if is_dataclass(kind) else {}
    for name in given:
        if name not in known:
            raise TypeError(f"{by}() got an unexpected keyword argument {name!r}")
    return kind(**given)


def shows_options(*kinds: type) -> Callable[[Function], Function]:
    """List the fields of dataclasses in the signature and the docstring of a function that takes them as ``**options``.

    The function's docstring has an entry ``**options`` among its parameters; the parameters that the docstrings of the
    dataclasses describe take its place.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Colours:
    ...     sky: str = "blue"
    >>> @shows_options(Colours)
    ... def paint(width: int, **options: Any) -> None:
    ...     pass
    >>> print(inspect.signature(paint))
    (width: 'int', *, sky: 'str' = 'blue') -> 'None'
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        shared = [parameter for kind in kinds for parameter in _parameters(kind)]
        function.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
        if function.__doc__ is not None:
            described = [line for kind in kinds for line in _entries_of(kind)]
            function.__doc__ = _with_entries(inspect.cleandoc(function.__doc__), described)
        return function

    return decorate


def _parameters(kind: type) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
        for name, one in option_fields(kind).items()
    ]


def _entries_of(kind: type) -> list[str]:
    """The entries of the section Parameters of a class's docstring."""
    return str(inspect.getdoc(kind)).partition("----------\n")[2].splitlines()


def _with_entries(doc: str, entries: list[str]) -> str:
    lines = doc.splitlines()
    if "**options" not in lines:
        return doc
    start = end = lines.index("**options")
    while end + 1 < len(lines) and lines[end + 1].startswith(" "):
        end += 1
    return "\n".join([*lines[:start], *entries, *lines[end + 1 :]])
