"""Colours of rasters of numbers when QGIS opens them: bands with edges at 1, 2 and 5, as on the maps of dpheatmap."""

import math

from qgis.core import (
    QgsColorRampShader,
    QgsProcessingLayerPostProcessorInterface,
    QgsRasterShader,
    QgsSingleBandPseudoColorRenderer,
)
from qgis.PyQt.QtGui import QColor

HEAT = ["#F8DE96", "#FAA34B", "#F1623C", "#C33554", "#891B65", "#47175F"]
FEWER = ["#15326A", "#265EA3", "#4791CC", "#87C1E5"]
MORE = ["#F0AB72", "#D86C38", "#A43B21", "#661D1D"]
_KEPT = []


class Painter(QgsProcessingLayerPostProcessorInterface):
    """Paints a layer when it is added to the project."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def postProcessLayer(self, layer, context, feedback):
        """Paint the layer, unless it is a picture."""
        if layer is not None and layer.bandCount() > 2 and not layer.source().lower().endswith(".png"):
            paint(layer, self.kind)


def keep_painting(context, path, kind):
    """Paint the layer of a file, if QGIS opens it when the algorithm is done."""
    if context.willLoadLayerOnCompletion(path):
        painter = Painter(kind)
        _KEPT.append(painter)  # QGIS does not keep it
        context.layerToLoadOnCompletionDetails(path).setPostProcessor(painter)


def paint(layer, kind):
    """Give the first band of a raster the colours of heat, or of what changed."""
    stats = layer.dataProvider().bandStatistics(1)
    top = max(abs(stats.minimumValue), abs(stats.maximumValue))
    if not top > 0:
        return
    steps = edges_below(top, len(HEAT) if kind == "heat" else len(MORE))
    clear = QColor(0, 0, 0, 0)
    item = QgsColorRampShader.ColorRampItem
    if kind == "heat":
        items = [item(steps[0], clear, f"under {words(steps[0])}")]
        colours = HEAT[: len(steps)]
    else:
        lows = [-edge for edge in reversed(steps)]
        items = [
            item(end, QColor(colour), f"fewer: {words(-end)}")
            for end, colour in zip(lows, FEWER[len(FEWER) - len(steps) :])
        ]
        items.append(item(steps[0], clear, f"less than {words(steps[0])}"))
        colours = MORE[: len(steps)]
    ends = [*steps[1:], math.inf]
    items += [item(end, QColor(colour), f"from {words(begin)}") for begin, end, colour in zip(steps, ends, colours)]
    function = QgsColorRampShader()
    function.setColorRampType(QgsColorRampShader.Discrete)
    function.setColorRampItemList(items)
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(function)
    layer.setRenderer(QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader))
    layer.triggerRepaint()


def edges_below(top, most):
    """Return the last numbers of 1, 2, 5, 10, ... that are not above the top, the smallest first."""
    power = math.floor(math.log10(top))
    steps = [digit * 10.0**at for at in range(power - most, power + 1) for digit in (1, 2, 5)]
    return [step for step in steps if step <= top][-most:]


def words(share):
    """Return a share per km² as a number of people of 1,000, or of more if that is a fraction."""
    base = 1000
    while share * base < 0.999:
        base *= 10
    return f"{share * base:,.0f} of every {base:,} people per km²"
