"""Docstrings as the site shows them; an extension of griffe, which mkdocs.yml names."""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class PlainDocstrings(griffe.Extension):
    """What is written for Python's own tools, made readable as Markdown."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence examples, which Markdown would take for quotations, and drop the mark of a literal block."""
        if obj.docstring:
            fenced = EXAMPLE.sub(lambda example: f"```pycon\n{example[0].rstrip()}\n```", obj.docstring.value)
            obj.docstring.value = re.sub(r"^::\n", "", fenced, flags=re.MULTILINE)

    def on_attribute_instance(self, *, node: Any, attr: griffe.Attribute, **_: Any) -> None:
        """Drop the docstring of a value such as ``"posterior"`` if it is that of its type."""
        value = getattr(node, "obj", None)
        if attr.docstring and not isinstance(value, property) and inspect.getdoc(value) == inspect.getdoc(type(value)):
            attr.docstring = None
