"""Optional packages, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpheatmap.errors import MissingDependency


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package, or raise the error that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependency(module.partition(".")[0], purpose, extra) from error
