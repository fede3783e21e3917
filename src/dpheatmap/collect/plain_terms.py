"""The terms of a collection in plain words, for whoever is asked to take part: where, how much, who learns what."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpheatmap.collect.client import body_size
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.device_account import Balance
from dpheatmap.collect.keys import PublicKey
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.trusted_parties import is_valid, unknown_roles
from dpheatmap.design.shares import exact_text

LEARNT = {
    "servers": {
        "each server": "that you took part, from which address and when; of your positions a share that looks random",
        "all servers together": "exactly where you were, so they must not belong together",
        "everybody": "how many took part, and a map with noise",
    },
    "shuffle": {
        "the shuffler": "that you took part, from which address and when; sealed messages that it can't open",
        "the analyser": "mixed messages of everybody, and what they add up to, with noise",
        "both together": "where you were, with hardly any noise, so they must not belong together",
        "everybody": "how many took part, and a map with noise",
    },
    "local": {
        "the server": "that you took part, from which address and when, and one answer with noise",
        "everybody": "how many took part, and a map with noise",
    },
}
"""Who learns what, by model."""


def terms_in_words(
    collection: Collection, held: Sequence[PublicKey] = (), balance: Balance | None = None
) -> dict[str, Any]:
    """The terms by plain values: text, or lists and tables of text. ``held`` are the keys that the device knows."""
    terms, unknown = collection.terms, unknown_roles(collection, held)
    signed = [one for one in collection.countersignatures if is_valid(collection, one)]
    delta = terms.delta if isinstance(terms, ShuffleTerms) else Fraction(0)
    found: dict[str, Any] = {
        "model": terms.model,
        "place": _place(collection),
        "epsilon": exact_text(terms.epsilon),
        "delta": exact_text(delta),
        "people": f"nothing is published below {terms.n_min:,} contributions; there is room for {terms.n_max:,}",
        "closes": collection.closes.isoformat(),
        "sends": " and ".join(
            f"{body_size(collection, number):,} bytes to {party.address}"
            for number, party in enumerate(collection.receivers)
        ),
        "operator": collection.operator.fingerprint,
        "parties": [
            {
                "role": role,
                "address": party.address,
                "key": party.key.fingerprint,
                "countersigned": [one.key.fingerprint for one in signed if one.role == role],
                "known": role not in unknown,
            }
            for role, party in zip(collection.roles, collection.parties, strict=True)
        ],
        "learns": LEARNT[terms.model],
        "digest": collection.digest.hex(),
    }
    if balance is not None:
        limit = "none" if balance.limit is None else exact_text(balance.limit)
        found["device"] = {"limit": limit, "spent": exact_text(balance.spent), "left": exact_text(balance.left)}
    return found


def terms_as_lines(words: dict[str, Any]) -> list[str]:
    """What `terms_in_words` returned, in lines to read."""
    delta = "" if words["delta"] == "0" else f", and more than that with a probability of {words['delta']}"
    lines = [
        f"About    {words['place']}",
        f"Costs    an epsilon of {words['epsilon']}{delta}",
        f"People   {words['people']}",
        f"Closes   {words['closes']}",
        f"Sends    {words['sends']}",
        f"Asked by the operator of the key {words['operator']}",
    ]
    for party in words["parties"]:
        known = "known to this device" if party["known"] else "NOT known to this device"
        if words["model"] == "local":
            known = "whom nobody has to trust"
        lines += [f"{party['role'].capitalize()} at {party['address']}, {known}", f"         its key  {party['key']}"]
        lines += [f"         countersigned by  {key}" for key in party["countersigned"]]
    lines += ["Who learns what:", *(f"  {who}: {what}" for who, what in words["learns"].items())]
    if "device" in words:
        device = words["device"]
        lines.append(f"This device's limit is {device['limit']}; {device['spent']} are spent, {device['left']} left.")
    return lines


def _place(collection: Collection) -> str:
    domain = collection.terms.domain
    left, low, right, high = domain.extent
    cells = f"in up to {domain.count(domain.depth):,} cells"
    kind = domain.to_dict()["kind"]
    if kind in ("bbox", "polygon"):
        return f"where you were between {left:g} and {right:g} degrees east, {low:g} and {high:g} north, {cells}"
    if kind == "image":
        return f"where you looked in an image of {right:g} x {high:g} pixels, {cells}"
    return f"where your points are in the unit square, {cells}"
