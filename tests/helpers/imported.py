"""What the package's files import, read off their source code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dpheatmap

ROOT = Path(dpheatmap.__file__).parent
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
Imported = tuple[str, str | None]
"""A module, and a name in it if one was asked for."""


@cache
def imports(file: str) -> frozenset[Imported]:
    """All that a file imports, at the top or inside functions; relative imports made absolute."""
    return frozenset(found for node in ast.walk(_parsed(file)) for found in _imported(node, file))


@cache
def imports_at_load(file: str) -> frozenset[Imported]:
    """What a file imports when it is loaded: not inside functions, and not for types alone."""
    todo: list[ast.AST] = [_parsed(file)]
    found: set[Imported] = set()
    while todo:
        node = todo.pop()
        found.update(_imported(node, file))
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not for_types and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo += ast.iter_child_nodes(node)
    return frozenset(found)


def files_of(module: str, name: str | None) -> list[str]:
    """The files of ours that an import loads: those of the module, and of the name if that is a module."""
    found = []
    for full in (f"{module}.{name}", module):
        if full.startswith("dpheatmap."):
            inside = full.removeprefix("dpheatmap.").replace(".", "/")
            found += [path for path in (f"{inside}.py", f"{inside}/__init__.py") if path in FILES]
    return found


def _parsed(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def _imported(node: ast.AST, file: str) -> Iterator[Imported]:
    package = ["dpheatmap", *file.split("/")[:-1]]
    if isinstance(node, ast.Import):
        yield from ((alias.name, None) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*above, *([node.module] if node.module else [])])
        yield from ((module, alias.name) for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        yield ast.unparse(node.args[0]).strip("'\""), None
