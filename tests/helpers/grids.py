"""Maps that metrics are tried on."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpheatmap.place.domain import Floats


def maps(shape: tuple[int, int]) -> st.SearchStrategy[Floats]:
    """Maps with zeros, ties and values of different sizes; never all zero."""
    values = st.one_of(st.just(0.0), st.integers(1, 3).map(float), st.floats(1e-6, 1e6))
    return arrays(np.float64, shape, elements=values).filter(lambda a: bool(a.any()))
