"""The content of an interactive map: values in a readable unit, their uncertainty, and the words around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.label import label_of_combination, privacy_label
from dpheatmap.render.figure.raster import is_smooth
from dpheatmap.render.figure.within_noise import WITHIN_NOISE, in_words, within_noise
from dpheatmap.render.web.layers import average
from dpheatmap.render.wording import priors_in_words, promise_in_words, unit_of_density, words_of, words_of_difference

if TYPE_CHECKING:
    from dpheatmap.heatmap.differences import Difference
    from dpheatmap.heatmap.heatmap import Heatmap

HEADINGS = {
    "warning": "Warning",
    "who": "Who is protected",
    "from_what": "From what",
    "how_strongly": "How strongly",
    "trusted": "Who had to be trusted",
    "not_promised": "What is not promised",
    "budget": "What is kept account of",
    "priors": "What else was used",
}
"""The parts of a privacy label, in the order in which people read them."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A map as it is shown: ``values`` and ``std`` are in ``unit``.

    ``clear`` marks the pixels above the noise, None if all are, and ``quiet`` says what the others are. ``top`` is the
    value at the end of the colour scale, which is centred on zero if ``signed``.
    """

    title: str
    domain: Domain
    values: Floats
    std: Floats | None
    clear: NDArray[np.bool_] | None
    quiet: str
    unit: str
    top: float
    signed: bool
    smooth: bool
    warnings: tuple[str, ...]
    facts: tuple[str, ...]
    label: Mapping[str, str]

    def at_most(self, pixels: int) -> Picture:
        """Reduce the picture to at most ``pixels`` on the longer side.

        A standard deviation becomes the mean of those averaged, which is at least that of the mean. A pixel is above
        the noise if most of the pixels averaged are.
        """
        rows, columns = self.values.shape
        longer = max(rows, columns)
        if longer <= pixels:
            return self
        size = max(1, round(rows * pixels / longer)), max(1, round(columns * pixels / longer))
        std, clear = self.std, self.clear
        return replace(
            self,
            values=average(self.values, *size),
            std=None if std is None else average(std, *size),
            clear=None if clear is None else average(clear.astype(np.float64), *size) > 0.5,
        )


def picture_of(heat: Heatmap) -> Picture:
    """A heatmap as it is shown: people per area."""
    words = words_of(heat)
    values, std, areas = heat.values, heat.std, heat.pixel_areas[:, None]
    noise = within_noise(heat)
    factor, unit = unit_of_density(heat.domain, float((values / areas).max()))
    return Picture(
        words.title,
        heat.domain,
        values / areas * factor,
        None if std is None else std / areas * factor,
        ~noise if noise.any() else None,
        in_words(heat),
        unit,
        # A map without signal has no hot spots, so it stays in the lower part of the scale.
        top=float((values / areas).max()) * factor * (4.0 if heat.empty else 1.0),
        signed=False,
        smooth=is_smooth(heat.domain, heat.sigma, heat.values),
        warnings=words.warnings,
        facts=words.facts,
        label=_label(heat),
    )


def _label(heat: Heatmap) -> Mapping[str, str]:
    """The privacy label of a map, with the releases that its prior was made from."""
    label = label_of_combination(heat, heat.combined) if heat.combined else privacy_label(heat)
    used = priors_in_words(heat)
    return {**label, "priors": f"{'; '.join(used)}."} if used else label


def picture_of_difference(change: Difference) -> Picture:
    """A difference as it is shown: people per area, more or fewer."""
    words = words_of_difference(change)
    after, before = change.after, change.before
    both = (("A", before), ("B", after))
    values, std, areas = change.values, change.std, after.pixel_areas[:, None]
    factor, unit = unit_of_density(change.domain, float(np.abs(values / areas).max()))
    weaker = before if after.trust.who == "nobody" else after  # the promise is stronger where nobody is trusted
    together = replace(weaker, loss=before.loss + after.loss, seeded=before.seeded or after.seeded)
    label = dict(privacy_label(together))
    epsilons = " and ".join(f"{name} with {promise_in_words(heat)}" for name, heat in both)
    for part in ("trusted", "not_promised"):
        if (before.trust, before.noise) != (after.trust, after.noise):
            label[part] = " ".join(f"{name}: {privacy_label(heat)[part]}" for name, heat in both)
    label["how_strongly"] = (
        f"Made from two releases, {epsilons}; for people who are in both, they add up. {label['how_strongly']}"
    )
    return Picture(
        words.title,
        change.domain,
        values / areas * factor,
        None if std is None else std / areas * factor,
        None if std is None else change.significant(),
        WITHIN_NOISE,
        f"{unit}, B minus A",
        top=float(np.abs(values / areas).max()) * factor or 1.0,
        signed=True,
        smooth=is_smooth(change.domain, change.sigma, values),
        warnings=words.warnings,
        facts=words.facts,
        label=label,
    )
