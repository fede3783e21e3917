"""Names of a package that are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names live in other modules: ``homes`` tells where.

    A home is the name of the module that holds the name; with a colon before it, it is the module itself.

    >>> lookup = lazy_names("dpheatmap", {"Domain": "dpheatmap.place.domain", "bounds": ":dpheatmap.planning.bounds"})
    >>> lookup("Domain").__name__, lookup("bounds").__name__
    ('Domain', 'dpheatmap.planning.bounds')
    """

    def lookup(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        found = import_module(home[1:]) if home.startswith(":") else getattr(import_module(home), name)
        setattr(sys.modules[package], name, found)
        return found

    return lookup
