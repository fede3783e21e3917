"""Collections: their terms, parties and closing time, which are public and signed by the operator.

One JSON file holds everything that a device's contribution depends on. The device gets the operator's public key by
other means (with the app, say), and takes part only in what that key has signed. Some numbers in the file follow from
others, and are there for people to read. A reader computes the whole file again and compares. What is signed is its
canonical form (RFC 8785). Signatures are beside it: the operator's, and those by which organisations say that a party
is theirs (`trusted_parties.py`).
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from inspect import signature
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from dpheatmap._util.canonical_json import canonical_json, strict_json
from dpheatmap._util.files import replace_whole
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.place.domain import Domain

if TYPE_CHECKING:
    from dpheatmap.collect.keys import PrivateKey, PublicKey

FORMAT = 2
_LARGEST_FILE = 2**16
_PURPOSE = b"dpheatmap collection"
_ADDRESS = re.compile(r"https?://([0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?/?")
"""What all readers of addresses, and people to whom one is shown, take for the same host."""


class Party(NamedTuple):
    """Somebody who runs a process of a collection.

    Attributes
    ----------
    address : str
        Where the process listens, such as ``https://one.example:8443``.
    key : PublicKey
        Its public key.
    """

    address: str
    key: PublicKey


class Countersignature(NamedTuple):
    """The word of an organisation that a party of a collection is its own.

    Attributes
    ----------
    role : str
        The role of the party, such as "server 1".
    key : PublicKey
        The public key of the organisation.
    signature : str
        Its signature.
    """

    role: str
    key: PublicKey
    signature: str


AnyTerms = ServerTerms | ShuffleTerms | LocalTerms
_KINDS: tuple[type[AnyTerms], ...] = (ServerTerms, ShuffleTerms, LocalTerms)


@dataclass(frozen=True)
class Collection:
    """The public description of a collection, made by :meth:`open` or :meth:`read`.

    Attributes
    ----------
    terms : ServerTerms, ShuffleTerms or LocalTerms
        The public terms.
    parties : tuple of Party
        The parties, in the order of their roles.
    closes : datetime
        When the collection closes, with a time zone.
    operator : PublicKey
        The public key of whoever opened it.
    signature : str
        The operator's signature of all of this.
    countersignatures : tuple of Countersignature
        What organisations have signed besides.
    """

    terms: AnyTerms
    parties: tuple[Party, ...]
    closes: datetime
    operator: PublicKey
    signature: str = ""
    countersignatures: tuple[Countersignature, ...] = ()

    def __post_init__(self) -> None:
        wanted = len(self.roles)
        if len(self.parties) != wanted or len({party.key for party in self.parties}) != wanted:
            raise ParameterError(
                f"The parties of this collection must be {wanted}, each with its own key; there were "
                f"{len(self.parties)}. Give every server (one, in the local model), or shuffler and analyser, in order."
            )
        for party in self.parties:
            _check_address(party.address)
        if self.closes.tzinfo is None:
            raise ParameterError("The closing time must have a time zone. Write it such as 2030-01-31T12:00:00Z.")

    @classmethod
    def open(cls, terms: AnyTerms, parties: Mapping[str, PublicKey], closes: datetime, key: PrivateKey) -> Collection:
        """Make a collection and sign it.

        Parameters
        ----------
        terms : ServerTerms, ShuffleTerms or LocalTerms
            The public terms.
        parties : mapping of str to PublicKey
            Addresses with public keys: of all servers, or of shuffler and analyser, in order.
        closes : datetime
            When it closes, with a time zone.
        key : PrivateKey
            The operator's private key.

        Returns
        -------
        Collection
            The signed collection.

        Raises
        ------
        ParameterError
            If the parties are not those of the model, or if the time has no time zone.
        """
        from dpheatmap.collect.keys import SIGNATURE, as_text

        unsigned = cls(terms, tuple(Party(*party) for party in parties.items()), closes, key.public)
        unsigned = replace(unsigned, closes=closes.astimezone(UTC).replace(microsecond=0))
        return replace(unsigned, signature=as_text(key.sign(unsigned.text, _PURPOSE)[:SIGNATURE]))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the parties, in order."""
        return self.terms.roles

    @property
    def served(self) -> ServerTerms:
        """The terms of a collection with servers."""
        if not isinstance(self.terms, ServerTerms):
            raise TypeError("not a collection with servers")
        return self.terms

    @property
    def shuffled(self) -> ShuffleTerms:
        """The terms of a collection in the shuffle model."""
        if not isinstance(self.terms, ShuffleTerms):
            raise TypeError("not a collection of the shuffle model")
        return self.terms

    @property
    def receivers(self) -> tuple[Party, ...]:
        """The parties that devices send to: every server, or the shuffler."""
        return self.parties[:1] if self.terms.model == "shuffle" else self.parties

    @cached_property
    def text(self) -> bytes:
        """The bytes that are signed."""
        return canonical_json(self._unsigned_document())

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that identify the collection: the SHA-256 of ``text``."""
        return hashlib.sha256(self.text).digest()

    def purpose(self, what: str) -> bytes:
        """Return the context of a signature or a seal in this collection, so that it is of no use elsewhere.

        Parameters
        ----------
        what : str
            What is signed or sealed, such as "contribution".

        Returns
        -------
        bytes
            The context.
        """
        return f"dpheatmap {what} ".encode() + self.digest

    def index_of(self, key: PublicKey, role: str) -> int:
        """Find the party that has a key and a role.

        Parameters
        ----------
        key : PublicKey
            The public key of the party.
        role : str
            The role: "server", "shuffler" or "analyser".

        Returns
        -------
        int
            The number of the party, from 0.

        Raises
        ------
        DataError
            If there is no such party.
        """
        for number, party in enumerate(self.parties):
            if party.key == key and self.roles[number].startswith(role):
                return number
        raise DataError(f"This is not the key of a {role} of this collection. Give the key whose public part it names.")

    def _unsigned_document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            **self.terms.to_dict(),
            "closes": self.closes.isoformat(),
            "parties": [
                {"role": role, "address": party.address, "key": party.key.text}
                for role, party in zip(self.roles, self.parties, strict=True)
            ],
            "operator": self.operator.text,
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the JSON file that everybody gets.

        Parameters
        ----------
        path : path
            The file.
        """
        with replace_whole(path) as temporary:
            beside = [
                {"role": role, "key": key.text, "signature": signature}
                for role, key, signature in self.countersignatures
            ]
            document = {**self._unsigned_document(), "signature": self.signature, "countersignatures": beside}
            temporary.write_text(json.dumps(document, indent=1) + "\n")

    @classmethod
    def read(cls, path: str | PathLike[str], operator: str | PublicKey) -> Collection:
        """Read a collection from its file, and check it.

        Parameters
        ----------
        path : path
            The file.
        operator : str or PublicKey
            The public key of the operator, which must have signed the file.

        Returns
        -------
        Collection
            The collection.

        Raises
        ------
        DataError
            If the file can't be read, is not signed by the operator, or contradicts itself.
        """
        from dpheatmap.collect.keys import PublicKey

        name = Path(fspath(path)).name
        expected = operator if isinstance(operator, PublicKey) else PublicKey(operator)
        try:
            with Path(path).open("rb") as file:
                text = file.read(_LARGEST_FILE + 1)
        except OSError:
            raise DataError(f"The collection {fspath(path)!r} can't be read. Check the path.") from None
        try:
            found = cls._from_document(strict_json(text[:_LARGEST_FILE]), expected)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, DpheatmapError):
            found = None
        if found is None:
            raise DataError(
                f"{name} is not a collection that the operator of this key has signed. Get a fresh copy of both."
            )
        return found

    @classmethod
    def _from_document(cls, document: dict[str, Any], operator: PublicKey) -> Collection | None:
        """Make the collection of a document; None if it is not signed by the operator or contradicts itself."""
        from dpheatmap.collect.keys import PublicKey, from_text

        signature, beside = document.pop("signature"), document.pop("countersignatures")
        text = canonical_json(document)
        if operator.verify(from_text(signature) + text, _PURPOSE) is None:
            return None
        countersignatures = tuple(
            Countersignature(str(one["role"]), PublicKey(one["key"]), str(one["signature"])) for one in beside
        )
        terms = _kind_of(document["model"]).from_dict(document)
        parties = tuple(Party(party["address"], PublicKey(party["key"])) for party in document["parties"])
        found = cls(terms, parties, datetime.fromisoformat(document["closes"]), operator, signature)
        return replace(found, countersignatures=countersignatures) if found.text == text else None


def terms_of(model: str, domain: Domain, *, epsilon: object, n_min: int, n_max: int, **others: Any) -> AnyTerms:
    """The terms of any model. ``others`` are options of its terms; those that are None count as not given.

    >>> terms_of("local", Domain.unit(4), epsilon=1, n_min=100, n_max=1000).roles
    ('server',)
    """
    kind = _kind_of(model)
    given = {name: value for name, value in others.items() if value is not None}
    unknown = sorted(given.keys() - signature(kind.of).parameters.keys())
    if unknown:
        raise ParameterError(f"The {model} model has no {' or '.join(unknown)}. Leave this out.")
    return kind.of(domain, epsilon=epsilon, n_min=n_min, n_max=n_max, **given)


def _kind_of(model: str) -> type[AnyTerms]:
    """The class of a model's terms."""
    for kind in _KINDS:
        if kind.model == model:
            return kind
    raise ParameterError(f"The model must be 'servers', 'shuffle' or 'local'; it was {model!r}. Use one of these.")


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        fine = _ADDRESS.fullmatch(address) is not None and (parts.port is None or parts.port > 0)
    except ValueError:
        fine = False
    if not fine:
        raise ParameterError(
            f"A party's address must be such as https://one.example:8443; it was {address!r}. Give scheme and host."
        )
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise ParameterError(
            f"A party's address must begin with https, except on this machine; it was {address!r}. Get a certificate."
        )


def _is_loopback(host: str) -> bool:
    """Whether a name is that of this machine, without asking a name server: somebody else may answer for it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
