"""Names: a module's tells it from all others, a function's says what it does (a verb) or what it returns (a noun)."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

import pytest

from helpers.imported import FILES, ROOT

IRREGULAR = """
    begun broken brought built caught chosen done drawn driven fallen foreseen forgotten found frozen given gone grown
    heard held hidden kept known laid left lost made meant met overlaid paid said seen sent shown sold spent stood sworn
    taken taught thought thrown told torn understood unwritten withdrawn won woven written
"""
"""Past participles without -ed; not those that are their own verb, such as cut, put, read, set and split."""

NO_PARTICIPLES = "bed bleed breed embed exceed feed need proceed seed shed speed succeed weed"
"""Words in -ed that are verbs or nouns themselves."""

ALLOWED = {
    "_util/idle_connections.py:HurriedProtocol.connection_lost": "asyncio calls it so",
    "_util/idle_connections.py:HurriedProtocol.connection_made": "asyncio calls it so",
    "collect/open_protocol.py:OpenProtocol.connection_lost": "asyncio calls it so",
    "collect/open_protocol.py:OpenProtocol.connection_made": "asyncio calls it so",
    "collect/open_protocol.py:OpenProtocol.data_received": "asyncio calls it so",
    "app/jobs.py:Job.stop_if_cancelled": "a verb first; the participle is its condition",
    "collect/client.py:Client.kept": "a public method of a public class: the counterpart of `keep`",
    "collect/receiver.py:Receiver._refuse_if_closed": "a verb first; the participle is its condition",
    "curator/read/kernels.py:count_broken": "a verb first; the participle is its object",
    "releases/release.py:Release.collected": "a public method of a public class: the kind of release that it makes",
}
"""Functions that may be called like this, each for its reason."""


class Function(NamedTuple):
    """A function of the package: its file, its name with those of classes and functions around it, and its node."""

    file: str
    path: str
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def place(self) -> str:
        return f"{self.file}:{self.path}"


def functions_in(node: ast.AST, file: str, around: str = "") -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        inside = around
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(file, f"{around}{child.name}", child)
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{around}{child.name}."
        yield from functions_in(child, file, inside)


def functions(file: str) -> Iterator[Function]:
    return functions_in(ast.parse((ROOT / file).read_text(encoding="utf-8")), file)


def is_participle(name: str) -> bool:
    last = name.strip("_").split("_")[-1]
    return last in IRREGULAR.split() or (last.endswith("ed") and last not in NO_PARTICIPLES.split())


def describes_a_state(function: Function) -> bool:
    """Properties, and predicates: functions that return whether something is so."""
    node = function.node
    kinds = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    predicate = node.returns is not None and ast.unparse(node.returns) == "bool"
    return predicate or not kinds.isdisjoint({"property", "cached_property"})


def called_by_a_participle(file: str) -> list[Function]:
    return [one for one in functions(file) if is_participle(one.node.name) and not describes_a_state(one)]


def test_no_two_modules_have_one_name() -> None:
    names = Counter(name for file in FILES if (name := PurePath(file).name) != "__init__.py")
    assert {name for name, times in names.items() if times > 1} == set()


@pytest.mark.parametrize(
    "name", ["_sealed", "taken", "_carried_over_again", "people_drawn", "seeded", "speed", "embed"]
)
def test_participles_are_told_from_other_words(name: str) -> None:
    assert is_participle(name) == (name in ("_sealed", "taken", "people_drawn", "seeded"))


def test_properties_and_predicates_may_describe_a_state() -> None:
    code = """
class Release:
    @property
    def seeded(self) -> bool: ...
    @functools.cached_property
    def collected(self) -> int: ...
    def closed(self) -> bool: ...
    def merged(self) -> int:
        def drawn() -> int: ...
"""
    found = {one.path: describes_a_state(one) for one in functions_in(ast.parse(code), "file.py")}
    assert [path.rpartition(".")[2] for path, state in found.items() if state] == ["seeded", "collected", "closed"]
    assert not found["Release.merged"]
    assert not found["Release.merged.drawn"]


@pytest.mark.parametrize("file", FILES)
def test_no_function_is_called_by_a_participle(file: str) -> None:
    """A function that does something is a verb phrase, and one that returns something is a noun."""
    assert [one.place for one in called_by_a_participle(file) if one.place not in ALLOWED] == []


def test_the_list_of_exceptions_holds_only_what_there_is() -> None:
    assert set(ALLOWED) <= {one.place for file in FILES for one in called_by_a_participle(file)}
