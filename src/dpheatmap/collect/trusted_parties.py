"""Which parties a device trusts: those whose keys it was given by others than the operator.

The operator signs a collection, and could name servers of its own in it: they would put the shares together and read
what each person sent. So a device takes part only if it knows *every* party: it holds the party's key, or a key whose
owner has countersigned the collection for that role ("the key of server 1 is mine"). Each of the keys that it holds
counts for one party, else one organisation could countersign for all. The operator's key counts only if the device
holds it as a party's, too.

In the local model there is nobody to trust, and nobody has to be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpheatmap.collect.collection import Collection, Countersignature
from dpheatmap.collect.keys import PrivateKey, PublicKey, as_text, from_text
from dpheatmap.collect.local import LocalTerms
from dpheatmap.errors import ParameterError, PrivacyRefusal


def keys_of(texts: Iterable[str | PublicKey]) -> list[PublicKey]:
    """The public keys of texts, or as they are."""
    if isinstance(texts, str):
        raise ParameterError("The parties' keys must be a list; they were one text. Give [KEY1, KEY2].")
    return [text if isinstance(text, PublicKey) else PublicKey(text) for text in texts]


def countersign(collection: Collection, key: PrivateKey, role: str) -> Collection:
    """The collection with one more countersignature: whoever has this key stands for the party of this role."""
    if role not in collection.roles:
        raise ParameterError(f"role must be one of {', '.join(collection.roles)}; it was {role!r}. Name your own.")
    signature = as_text(key.sign(b"", countersigned_purpose(collection, role)))
    mine = Countersignature(role, key.public, signature)
    others = (one for one in collection.countersignatures if one[:2] != mine[:2])
    return replace(collection, countersignatures=(*others, mine))


def countersigned_purpose(collection: Collection, role: str) -> bytes:
    """What a countersignature is for: this role in this collection."""
    return collection.purpose(f"countersignature {role}")


def is_valid(collection: Collection, given: Countersignature) -> bool:
    """Whether the owner of the key has countersigned the collection for this role."""
    try:
        signature, purpose = from_text(given.signature), countersigned_purpose(collection, given.role)
    except (ValueError, TypeError):
        return False
    return given.key.verify(signature, purpose) == b""


def unknown_roles(collection: Collection, held: Sequence[PublicKey]) -> list[str]:
    """The roles of the parties that nobody whose key is held stands for."""
    signed = [one for one in collection.countersignatures if is_valid(collection, one)]
    candidates = [
        {key for key in held if key == party.key or any(one[:2] == (role, key) for one in signed)}
        for role, party in zip(collection.roles, collection.parties, strict=True)
    ]
    matched = _match(candidates)
    return [role for number, role in enumerate(collection.roles) if number not in matched.values()]


def check_parties(collection: Collection, held: Sequence[PublicKey]) -> None:
    """Refuse a collection of whose parties one is not known. The local model trusts nobody, so anybody may run it."""
    unknown = unknown_roles(collection, held)
    if unknown and not isinstance(collection.terms, LocalTerms):
        raise PrivacyRefusal(
            f"This device does not know who runs {' and '.join(unknown)}, and parties that belong together could read "
            "what it sends. Give the public keys that the organisations themselves publish, one for each, never those "
            "of the collection alone."
        )


def _match(candidates: Sequence[set[PublicKey]]) -> dict[PublicKey, int]:
    """Give as many parties as possible one of their candidates each, by augmenting paths."""
    taken: dict[PublicKey, int] = {}

    def place(number: int, tried: set[PublicKey]) -> bool:
        for key in candidates[number] - tried:
            tried.add(key)
            if key not in taken or place(taken[key], tried):
                taken[key] = number
                return True
        return False

    for number in range(len(candidates)):
        place(number, set())
    return taken
