"""Everything public documents its parameters, fields and results in numpydoc form."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import dpheatmap as dph
from dpheatmap import testing
from dpheatmap.collect.collection import Party
from dpheatmap.collect.local import Report
from dpheatmap.curator import RowReport
from dpheatmap.planning.plans import LevelPlan, Theory
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import GaussianNoise, LaplaceNoise
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.trust import Trust

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")
"""The sections in the order of numpydoc."""

PARTS = (GaussianNoise, LaplaceNoise, LedgerEntry, LevelPlan, Measurements, Party, Report, RowReport, Theory, Trust)
"""Classes that no public name leads to, but that users read in the attributes of others."""


class Entry(NamedTuple):
    """What a section says about a name."""

    kind: str
    description: str


def sections(doc: str) -> dict[str, list[str]]:
    """The lines of each section by its title; those before the first one under an empty title."""
    found: dict[str, list[str]] = {"": []}
    lines, title = doc.splitlines(), ""
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line and below == "-" * len(line):
            title = line
            found[title] = []
        elif not (title and line == "-" * len(title)):
            found[title].append(line)
    return found


def entries(lines: list[str]) -> dict[str, Entry]:
    """The entries ``name : type`` of a section, each with the indented lines below; names may share an entry."""
    found: dict[str, Entry] = {}
    names: list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            head, _, kind = line.partition(" : ")
            names = head.split(", ")
            found |= {name: Entry(kind, "") for name in names}
        else:
            found |= {name: Entry(found[name].kind, f"{found[name].description} {line.strip()}") for name in names}
    return {name: Entry(entry.kind, entry.description.strip()) for name, entry in found.items()}


def faults_of_form(doc: str) -> Iterator[str]:
    """Sections that numpydoc does not know or has in another order, and examples outside of theirs."""
    parts = sections(doc)
    titles = [title for title in parts if title]
    if not doc:
        yield "there is no docstring"
    if titles != [title for title in SECTIONS if title in titles]:
        yield f"the sections are {', '.join(titles)}"
    if any(line.lstrip().startswith(">>>") for title in parts if title != "Examples" for line in parts[title]):
        yield "an example stands outside of the section Examples"


def faults_of_entry(name: str, entry: Entry | None) -> Iterator[str]:
    """What an entry lacks: a type, or a reference to the function that tells it, and a description."""
    if entry is None:
        yield f"{name} has no entry"
        return
    if not entry.kind and not name.startswith("*") and not kind_told_elsewhere(name, entry):
        yield f"{name} has no type"
    if not entry.description:
        yield f"{name} has no description"


def kind_told_elsewhere(name: str, entry: Entry) -> bool:
    """Whether an entry names the public function that tells the type of a parameter of this name."""
    reference = re.match(r"As for :func:`(\w+)`", entry.description)
    if reference is None:
        return False
    other = entries(sections(inspect.getdoc(getattr(dph, reference[1])) or "")["Parameters"]).get(name)
    return other is not None and (bool(other.kind) or kind_told_elsewhere(name, other))


def faults_of_default(parameter: inspect.Parameter, kind: str) -> Iterator[str]:
    """Whether an entry tells that a parameter may be left out, and what it is then."""
    default = parameter.default
    told = kind.rpartition("default ")[2] if "default " in kind else None
    if default is inspect.Parameter.empty:
        if told is not None or kind.endswith("optional"):
            yield f"{parameter.name} has no default, and its entry tells one"
    elif default is None:
        if not kind.endswith("optional"):
            yield f"{parameter.name} has a default that its entry does not tell"
    elif told is None:
        yield f"{parameter.name} has a default that its entry does not tell"
    elif isinstance(default, str | int) and told != repr(default).replace("'", '"'):
        yield f"{parameter.name} has another default than its entry tells"


def faults_of_parameters(signature: inspect.Signature, doc: str) -> Iterator[str]:
    """Parameters without an entry, entries without a parameter, and what entries lack."""
    stars: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    taken = {stars.get(p.kind, "") + p.name: p for p in signature.parameters.values() if p.name not in ("self", "cls")}
    told = entries(sections(doc).get("Parameters", []))
    yield from (f"{name} is no parameter" for name in told if name not in taken)
    for name, parameter in taken.items():
        yield from faults_of_entry(name, told.get(name))
        if name in told and told[name].kind and not name.startswith("*"):
            yield from faults_of_default(parameter, told[name].kind)


def faults_of_function(function: Callable[..., object]) -> list[str]:
    """What the docstring of a function or method lacks, or has too much of."""
    doc, signature = inspect.getdoc(function) or "", inspect.signature(function)
    faults = [*faults_of_form(doc), *faults_of_parameters(signature, doc)]
    returns = entries(sections(doc).get("Returns", []))
    if signature.return_annotation in ("None", "NoReturn"):
        return faults + ["it returns nothing, and there is a section Returns"] * bool(returns)
    if not returns:
        return [*faults, "there is no section Returns"]
    return faults + [f"what it returns, {name}, has no description" for name, e in returns.items() if not e.description]


def faults_of_property(made: object) -> list[str]:
    """What is wrong with the docstring of a property, which takes nothing and returns what its type says."""
    return list(faults_of_form(inspect.getdoc(made) or ""))


def faults_of_class(kind: type) -> list[str]:
    """What the docstring of a class lacks: the parameters that make one, or the fields of what is only read."""
    doc = inspect.getdoc(kind) or ""
    faults, told = list(faults_of_form(doc)), entries(sections(doc).get("Attributes", []))
    fields = [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
    fields += getattr(kind, "_fields", ())
    for name in dict.fromkeys([*fields, *told]):
        faults += faults_of_entry(name, told.get(name))
    faults += [f"{name} is no attribute" for name in told if name not in fields and not has_attribute(kind, name)]
    if not fields and "__init__" in vars(kind):
        faults += faults_of_parameters(inspect.signature(kind), doc)
    return faults


def has_attribute(kind: type, name: str) -> bool:
    """Whether a class has a member of that name, or sets one when it is made."""
    return hasattr(kind, name) or f"self.{name} =" in inspect.getsource(kind)


def in_module(module: ModuleType) -> list[Any]:
    """What a public module offers."""
    if module is dph.errors:
        return [one for one in vars(module).values() if inspect.isclass(one) and issubclass(one, Exception)]
    return [getattr(module, name) for name in module.__all__]


def public_values() -> Iterator[tuple[str, Any]]:
    """Functions and classes by the names that users have for them."""
    for name, value in [*((name, getattr(dph, name)) for name in dph.__all__), ("testing", testing)]:
        if inspect.ismodule(value):
            yield from ((f"{name}.{one.__name__}", one) for one in in_module(value) if callable(one))
        else:
            yield name, value
    yield from ((kind.__name__, kind) for kind in PARTS)


def documented() -> Iterator[tuple[str, Callable[[], list[str]]]]:
    """Every public docstring: where it stands, and how it is judged."""
    for name, value in public_values():
        if not inspect.isclass(value):
            yield name, partial(faults_of_function, value)
            continue
        yield name, partial(faults_of_class, value)
        for member, made in vars(value).items():
            if member.startswith("_"):
                continue
            if isinstance(made, property | cached_property):
                yield f"{name}.{member}", partial(faults_of_property, made)
            elif inspect.isroutine(getattr(value, member)):
                yield f"{name}.{member}", partial(faults_of_function, getattr(value, member))


DOCUMENTED = dict(documented())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_docstring_tells_every_parameter_and_result(name: str) -> None:
    assert DOCUMENTED[name]() == []


def test_the_public_docstrings_are_all_found() -> None:
    some = {
        "release",
        "Release.heatmap",
        "Release.epsilon",
        "Domain.bbox",
        "Counts.load",
        "bounds.lower",
        "metrics.emd",
    }
    some |= {
        "collect.ServerTerms.of",
        "collect.Client",
        "errors.MissingDependency",
        "testing.generated_people",
        "Trust",
    }
    assert some <= set(DOCUMENTED)


def good(width: int, *, colour: str = "red", **others: object) -> float:
    """Paint a wall.

    Parameters
    ----------
    width : int
        How wide it is,
        in metres.
    colour : str, default "red"
        The paint.
    **others
        Whatever else there is.

    Returns
    -------
    float
        How many litres it takes.

    Examples
    --------
    >>> good(3)
    3.0
    """
    return float(width)


def test_a_docstring_that_is_whole_has_no_faults() -> None:
    assert faults_of_function(good) == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("width : int\n    How wide it is,\n    in metres.\n", "", "width has no entry"),
        ("width : int", "height : int", "height is no parameter"),
        ("width : int", "width", "width has no type"),
        ("    The paint.\n", "", "colour has no description"),
        ('str, default "red"', "str", "colour has a default that its entry does not tell"),
        ('default "red"', 'default "blue"', "colour has another default than its entry tells"),
        ("width : int", "width : int, default 3", "width has no default, and its entry tells one"),
        ("Returns\n-------\n", "", "there is no section Returns"),
        ("    How many litres it takes.\n", "", "what it returns, float, has no description"),
        ("Examples\n--------\n", "", "an example stands outside of the section Examples"),
        ("Returns\n-------", "Result\n------", "the sections are Parameters, Result, Examples"),
    ],
)
def test_a_fault_is_found(before: str, after: str, fault: str) -> None:
    def planted(width: int, *, colour: str = "red", **others: object) -> float:
        return good(width, colour=colour, **others)

    doc = inspect.getdoc(good) or ""
    assert before in doc
    planted.__doc__ = doc.replace(before, after)
    assert fault in faults_of_function(planted)


def test_a_field_without_an_entry_is_found() -> None:
    class Wall(NamedTuple):
        """A wall.

        Attributes
        ----------
        width : int
            How wide it is.
        depth : int
            It has none.
        """

        width: int
        height: int

    assert faults_of_class(Wall) == ["height has no entry", "depth is no attribute"]
