from __future__ import annotations

import io

import numpy as np
from PIL import Image

import dpheatmap as dph
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.render.web.picture import picture_of
from dpheatmap.testing import generated_people


def test_noise_is_grey_where_the_map_is() -> None:
    """Else a map of nothing, small, would show hot places."""
    domain = dph.Domain.unit()
    people = generated_people(200, extent=domain.extent)
    heat = dph.release(people, domain, epsilon=1, user="person", x="x", y="y").heatmap()
    picture = picture_of(heat).at_most(64)
    shown = np.asarray(Image.open(io.BytesIO(thumbnail(picture, 64))).convert("RGB"), dtype=int)
    clear = np.ones(shown.shape[:2], bool) if picture.clear is None else picture.clear
    assert np.array_equal(np.ptp(shown, axis=2) > 2, clear)
