"""Collections without a trusted curator: nobody learns more than the release. On the private side of the wall.

* Secure aggregation: :mod:`~dpheatmap.collect.server`. Two or more servers, of which one is honest; they look where
  people are, while devices send once. :mod:`~dpheatmap.collect.share_sums` has the proof.
* Shuffle model: :mod:`~dpheatmap.collect.shuffler` and :mod:`~dpheatmap.collect.analyser`, who don't collude.
* Local model: :mod:`~dpheatmap.collect.local` and :mod:`~dpheatmap.collect.collector`. One noisy report a person.

Code outside imports only the names below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.collect.client import Client as Client
    from dpheatmap.collect.client import body_size as body_size
    from dpheatmap.collect.collection import Collection as Collection
    from dpheatmap.collect.collection import terms_of as terms_of
    from dpheatmap.collect.collection_result import combine_sums as combine_sums
    from dpheatmap.collect.collection_result import fetch_release as fetch_release
    from dpheatmap.collect.demo import run_demo as run_demo
    from dpheatmap.collect.device_account import DeviceAccount as DeviceAccount
    from dpheatmap.collect.disk_need import disk_in_words as disk_in_words
    from dpheatmap.collect.keys import PrivateKey as PrivateKey
    from dpheatmap.collect.keys import PublicKey as PublicKey
    from dpheatmap.collect.local import LocalTerms as LocalTerms
    from dpheatmap.collect.network import Network as Network
    from dpheatmap.collect.plain_terms import terms_as_lines as terms_as_lines
    from dpheatmap.collect.plain_terms import terms_in_words as terms_in_words
    from dpheatmap.collect.process_state import State as State
    from dpheatmap.collect.receiver import Role as Role
    from dpheatmap.collect.receiver import ask_progress as ask_progress
    from dpheatmap.collect.receiver import close_early as close_early
    from dpheatmap.collect.server_terms import ServerTerms as ServerTerms
    from dpheatmap.collect.shuffle_bound import paper_shares as paper_shares
    from dpheatmap.collect.shuffle_terms import ShuffleTerms as ShuffleTerms
    from dpheatmap.collect.simulate import simulate_locally as simulate_locally
    from dpheatmap.collect.simulate import simulate_together as simulate_together
    from dpheatmap.collect.tickets import make_tickets as make_tickets
    from dpheatmap.collect.trusted_parties import countersign as countersign
    from dpheatmap.collect.trusted_parties import keys_of as keys_of
    from dpheatmap.collect.web_process import kind_of as kind_of
    from dpheatmap.collect.web_process import serve as serve

__all__ = ["Client", "Collection", "DeviceAccount", "LocalTerms", "ServerTerms", "ShuffleTerms"]

# For devices, and for whoever opens a collection: from public terms to sealed contributions and noisy sums.
_PUBLIC = {
    "Client": "client",
    "Collection": "collection",
    "DeviceAccount": "device_account",
    "LocalTerms": "local",
    "ServerTerms": "server_terms",
    "ShuffleTerms": "shuffle_terms",
}
# The processes of a collection, which `dpheatmap collect` starts.
_PROCESSES = {
    "Network": "network",
    "PrivateKey": "keys",
    "PublicKey": "keys",
    "Role": "receiver",
    "State": "process_state",
    "ask_progress": "receiver",
    "body_size": "client",
    "close_early": "receiver",
    "combine_sums": "collection_result",
    "countersign": "trusted_parties",
    "disk_in_words": "disk_need",
    "fetch_release": "collection_result",
    "keys_of": "trusted_parties",
    "kind_of": "web_process",
    "make_tickets": "tickets",
    "run_demo": "demo",
    "serve": "web_process",
    "terms_as_lines": "plain_terms",
    "terms_in_words": "plain_terms",
    "terms_of": "collection",
}
# Simulations for experiments, whose releases are stamped NOT PRIVATE.
_SIMULATIONS = {
    "paper_shares": "shuffle_bound",
    "simulate_locally": "simulate",
    "simulate_together": "simulate",
}

_HOMES = _PUBLIC | _PROCESSES | _SIMULATIONS
__getattr__ = lazy_names(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*__all__, "__doc__", "__file__"]
