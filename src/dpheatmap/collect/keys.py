"""Keys for sealing and signing, by RFC 9180 and RFC 8032 as implemented in `cryptography`.

A *sealed* text (HPKE: X25519, HKDF-SHA256, AES-128-GCM, all of which browsers have) can be opened by the owner of one
key only, and only with the ``info`` that it was sealed with. It is 48 bytes longer than the text. A *signed* text
carries an Ed25519 signature. Every signature and every info starts with its purpose and the collection's digest, so
that it is not valid for another purpose or collection.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dpheatmap.errors import DataError, MissingDependency

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
except ImportError as error:
    raise MissingDependency("cryptography", "Collecting", "collect") from error

if TYPE_CHECKING:
    from collections.abc import Callable

OVERHEAD = 48
SIGNATURE = 64
_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


class BadSeal(Exception):  # noqa: N818
    """A text that was not sealed for this key, or for something else, or was altered."""


class PublicKey:
    """A public key: it seals for the owner, and verifies the owner's signatures."""

    def __init__(self, text: str) -> None:
        try:
            raw = from_text(text)
            if len(raw) != 64 or as_text(raw) != text:
                raise ValueError
            self._seals = X25519PublicKey.from_public_bytes(raw[:32])
            self._signs = Ed25519PublicKey.from_public_bytes(raw[32:])
        except (ValueError, TypeError, UnicodeError):
            raise DataError("A public key is 86 letters and digits, and this is none. Copy it again.") from None
        self.text = text

    @property
    def fingerprint(self) -> str:
        """160 bits of the key's SHA-256 in 32 letters and digits, for people to compare over the phone."""
        found = base64.b32encode(hashlib.sha256(from_text(self.text)).digest()[:20]).decode().lower()
        return " ".join(found[at : at + 4] for at in range(0, len(found), 4))

    def seal(self, text: bytes, info: bytes) -> bytes:
        """Seal a text for the owner of the key alone."""
        return _SUITE.encrypt(text, self._seals, info)

    def verify(self, body: bytes, purpose: bytes) -> bytes | None:
        """The text, if the owner signed it for this purpose; else None."""
        signature, text = body[:SIGNATURE], body[SIGNATURE:]
        try:
            self._signs.verify(signature, purpose + b"\0" + text)
        except InvalidSignature:
            return None
        return text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"PublicKey({self.text!r})"


class PrivateKey:
    """A private key, with its public key."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._opens = X25519PrivateKey.from_private_bytes(raw[:32])
        self._signs = Ed25519PrivateKey.from_private_bytes(raw[32:])

    @classmethod
    def make(cls) -> PrivateKey:
        """Make a new key."""
        return cls(X25519PrivateKey.generate().private_bytes_raw() + Ed25519PrivateKey.generate().private_bytes_raw())

    @cached_property
    def public(self) -> PublicKey:
        """The public key of this private key."""
        return PublicKey(
            as_text(self._opens.public_key().public_bytes_raw() + self._signs.public_key().public_bytes_raw())
        )

    def opener(self, info: bytes) -> Callable[[bytes], bytes]:
        """A function that opens what was sealed for this key with this info, and else raises `BadSeal`."""

        def unseal(sealed: bytes) -> bytes:
            try:
                return _SUITE.decrypt(sealed, self._opens, info)
            except Exception:  # the library raises several kinds; none of them may stop a batch
                raise BadSeal from None

        return unseal

    def sign(self, text: bytes, purpose: bytes) -> bytes:
        """Sign a text: the signature, followed by the text."""
        return self._signs.sign(purpose + b"\0" + text) + text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the key to a file that only its owner may read."""
        from dpheatmap._util.files import replace_whole

        with replace_whole(path, private=True) as temporary:
            temporary.write_text(json.dumps({"private key": as_text(self._raw), "public key": self.public.text}) + "\n")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> PrivateKey:
        """Read the key that `save` wrote."""
        try:
            raw = from_text(json.loads(Path(path).read_text())["private key"])
            if len(raw) != 64:
                raise ValueError
        except (OSError, ValueError, LookupError, TypeError):
            raise DataError(
                f"{Path(path).name} is not a private key, or can't be read. Make one with dpheatmap collect key."
            ) from None
        return cls(raw)


def from_text(text: str) -> bytes:
    """Decode what `as_text` encoded; ValueError or TypeError if it is something else."""
    return base64.urlsafe_b64decode(text + "==")


def as_text(raw: bytes) -> str:
    """Encode bytes as text that fits into an address."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
