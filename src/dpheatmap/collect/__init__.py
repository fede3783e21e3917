"""No trusted curator: people's devices send, nobody learns more than the release. On the private side of the wall.

* Secure aggregation: :mod:`~dpheatmap.collect.server`. Two or more servers of which one is honest.
* Shuffle model: :mod:`~dpheatmap.collect.shuffler` and :mod:`~dpheatmap.collect.analyser`, who don't collude.
* Local model: :mod:`~dpheatmap.collect.local` and :mod:`~dpheatmap.collect.collector`. One noisy report a person.
"""

from dpheatmap.collect.client import Client
from dpheatmap.collect.collection import Collection
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.terms import Terms

__all__ = ["Client", "Collection", "LocalTerms", "Terms"]
