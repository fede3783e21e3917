"""URLs of PostgreSQL databases, of which only host and name are ever shown."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from dpheatmap.errors import MissingDependency, ParameterError

WAIT = 60
"""Seconds to wait for a server, or for other processes that use it."""

_SCHEMES = ("postgresql://", "postgres://")


def is_database(where: object) -> bool:
    """Whether this is the URL of a PostgreSQL database.

    >>> is_database("postgresql://host/name"), is_database("trips.parquet"), is_database(None)
    (True, False, False)
    """
    return isinstance(where, str) and where.startswith(_SCHEMES)


def public_url(url: str, what: str) -> str:
    """The URL without user, password and options.

    >>> public_url("postgresql://ann:secret@host/name?sslmode=require", "ledger")
    'postgresql://host/name'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ParameterError(
            f"The URL of the {what} can't be understood. Write it such as postgresql://host/name."
        ) from None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def driver(purpose: str) -> Any:
    """Import the package psycopg."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingDependency("psycopg[binary]", purpose, "postgres") from error
    return psycopg
