"""The inks of a map: the colours and opacities of its bands, and how they look on the paper."""

from __future__ import annotations

from dataclasses import dataclass

from dpheatmap.render.palette import OVER_A_PICTURE, Theme, band_colours, change_colours, opacities, over


@dataclass(frozen=True)
class Inks:
    """The colours of bands; ``fewer`` are those of changes below zero, from the smallest on, and empty for heat.

    ``between`` are the opacities of the first and of the last bands, and ``paper`` is the colour under them.
    """

    colours: list[str]
    fewer: list[str]
    between: tuple[float, float]
    paper: str

    @property
    def opacities(self) -> list[float]:
        """The opacity of each band."""
        return opacities(len(self.colours), self.between)

    @property
    def swatches(self) -> list[str]:
        """The colours as they look on the paper."""
        return self._on_paper(self.colours)

    @property
    def fewer_swatches(self) -> list[str]:
        """The colours of changes below zero as they look on the paper."""
        return self._on_paper(self.fewer)

    def _on_paper(self, colours: list[str]) -> list[str]:
        return [over(colour, part, self.paper) for colour, part in zip(colours, self.opacities, strict=False)]


def inks_of(theme: Theme, bands: int, *, signed: bool = False, over_a_picture: bool = False) -> Inks:
    """The inks of so many bands of heat, or of changes on either side of zero.

    >>> from dpheatmap.render.palette import LIGHT
    >>> inks_of(LIGHT, 3).swatches
    ['#F7E3AB', '#E15355', '#55296A']
    """
    if signed:
        more, fewer = (change_colours(curve, bands) for curve in (theme.more, theme.fewer))
        return Inks(more, fewer, theme.change_opacities, theme.land)
    between = OVER_A_PICTURE if over_a_picture else theme.opacities
    return Inks(band_colours(theme.heat, bands), [], between, theme.page if over_a_picture else theme.land)
