"""The mutants: every small change that cosmic-ray makes to the private side, where it changes what runs."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from difflib import unified_diff
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src/dpheatmap"
LEFT_OUT = {"curator/read/inspection.py"}
"""What makes no release: the data holder's own look at a table."""

NOT_USED = re.compile(r"Variable(Replacer|Inserter)$|_(Eq|NotEq|Lt|LtE|Gt|GtE)_Is(Not)?$")
"""Operators that need names of variables; and `==` as `is`: the same for words and small numbers in CPython."""


class Mutant(NamedTuple):
    """A change to a module: the how-manieth place of an operator, and its line."""

    module: str
    operator: str
    occurrence: int
    line: int

    @property
    def source(self) -> str | None:
        """The changed module; None where cosmic-ray can't make the change, or what it makes is not Python."""
        return _changed(self)

    @property
    def difference(self) -> str:
        """The change, as two lines."""
        changed = (self.source or "").splitlines()
        lines = list(unified_diff(original(self.module).splitlines(), changed, n=0, lineterm=""))[3:]
        return " → ".join(line[1:].strip() for line in lines)


@lru_cache(maxsize=1)
def _changed(mutant: Mutant) -> str | None:
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    try:
        changed: str = mutate_code(original(mutant.module), get_operator(mutant.operator)(), mutant.occurrence)
        ast.parse(changed)
    except (AttributeError, SyntaxError):
        return None
    return changed


def modules() -> list[str]:
    """The modules of the private side, and the arithmetic of epsilon."""
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.glob("curator/**/*.py") if path.name != "__init__.py"}
    return ["design/shares.py", *sorted(found - LEFT_OUT)]


def original(module: str) -> str:
    """A module as it is."""
    return (PACKAGE / module).read_text()


def mutants(module: str) -> list[Mutant]:
    """Every mutant of a module that changes what runs, in an order that is random but always the same."""
    from cosmic_ray.ast import get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = original(module)
    nodes, silent, between = list(_nodes(get_ast(source))), _annotations(source), _between_operands(source)
    found = []
    for name in operator_names():
        if NOT_USED.search(name):
            continue
        operator = get_operator(name)()
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, ((line, column), _) in enumerate(places):
            stars = "BinaryOperator" in name and not _in_any((line, column), between)  # the `*` of parameters
            if not stars and not _in_any((line, column), silent):
                found.append(Mutant(module, name, occurrence, line))
    random.Random(module).shuffle(found)
    return found


def in_order(found: dict[str, list[Mutant]]) -> list[Mutant]:
    """All mutants, so mixed that the first ones are a random sample of each module, as large as the root of its size.

    The root lies between equal samples, which know little of large modules, and samples in proportion, which know
    nothing of small ones.
    """
    ranked = [(rank / len(mine) ** 0.5, mutant) for mine in found.values() for rank, mutant in enumerate(mine, start=1)]
    return [mutant for _, mutant in sorted(ranked)]


def _nodes(node: object) -> Iterator[object]:
    yield node
    for child in getattr(node, "children", ()):
        yield from _nodes(child)


Place = tuple[int, int]
Span = tuple[Place, Place]


def _in_any(place: Place, spans: list[Span]) -> bool:
    return any(start <= place < end for start, end in spans)


def _annotations(source: str) -> list[Span]:
    """Where annotations are, and what is imported for them alone: neither is ever evaluated."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for at in (getattr(node, "annotation", None), getattr(node, "returns", None), _for_types(node)):
            if isinstance(at, ast.expr):
                found.append(((at.lineno, at.col_offset), _end(at)))
    return found


def _between_operands(source: str) -> list[Span]:
    """Where binary operators are."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.BinOp)]
    return [(_end(node.left), (node.right.lineno, node.right.col_offset)) for node in found]


def _end(node: ast.expr) -> Place:
    return node.end_lineno or 0, node.end_col_offset or 0


def _for_types(node: ast.AST) -> ast.expr | None:
    """The condition of ``if TYPE_CHECKING``."""
    return node.test if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else None
