"""Leaves out docstrings of values that are those of their type; an extension of griffe, which mkdocs.yml names."""

from __future__ import annotations

import inspect
from typing import Any

import griffe


class OwnWords(griffe.Extension):
    """An attribute such as ``method = "posterior"`` has no docstring of its own, and must not show that of ``str``."""

    def on_attribute_instance(self, *, node: Any, attr: griffe.Attribute, **_: Any) -> None:
        """Drop what was found at the attribute's value, unless it describes the value itself."""
        value = getattr(node, "obj", None)
        if attr.docstring and not isinstance(value, property) and inspect.getdoc(value) == inspect.getdoc(type(value)):
            attr.docstring = None
