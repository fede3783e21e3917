"""XML as a stream of elements, in bounded memory, without entities.

A document with a type declaration is refused before anything of it is read: declarations define entities, which can
grow without bound or name other files. Neither GPX nor workbooks have any. Texts are cut off where they are too long to
be a value. A tag or comment is held as a whole until it ends, so one of more than 2 MiB is refused, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol
from xml.parsers import expat

from dpheatmap.curator.read.kernels import LONGEST
from dpheatmap.curator.read.records import LONGEST_VALUE

_STEP = 64 << 10
_DEEPEST = 100
"""Levels of elements; more are no document of ours."""
START, END = "start", "end"


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Read up to so many bytes; none at the end."""
        ...


class XmlProblem(Exception):  # noqa: N818
    """The document is no XML, or none that is read here."""


class Element(NamedTuple):
    """The start or the end of an element: its name without a namespace, its attributes, and its text at the end.

    A text that is too long is None.
    """

    at: str
    name: str
    attributes: Mapping[str, str]
    text: str | None


def elements(file: Readable) -> Iterator[Element]:
    """The starts and ends of a document's elements in their order."""
    found: list[Element] = []
    texts: list[list[str]] = []
    sizes: list[int] = []
    known: list[dict[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= _DEEPEST:
            raise XmlProblem
        texts.append([])
        sizes.append(0)
        plain = {_local(key): value for key, value in attributes.items()} if " " in "".join(attributes) else attributes
        known.append(plain)
        found.append(Element(START, _local(name), plain, ""))

    def end(name: str) -> None:
        text = "".join(texts.pop()) if sizes.pop() <= LONGEST_VALUE else None
        found.append(Element(END, _local(name), known.pop(), text))

    def data(text: str) -> None:
        if texts:
            sizes[-1] += len(text)
            if sizes[-1] <= LONGEST_VALUE:
                texts[-1].append(text)

    def refuse(*_: object) -> None:
        raise XmlProblem

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.buffer_text = True
    whole, fed = True, 0
    try:
        while got := file.read(_STEP):
            parser.Parse(got, False)
            fed += len(got)
            if fed - parser.CurrentByteIndex > LONGEST:
                raise XmlProblem
            yield from found
            found.clear()
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError):  # the last two for encodings that are none
        whole = False
    if not whole:
        raise XmlProblem
    yield from found


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
