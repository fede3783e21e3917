"""Draws the picture of docs/guides/qgis.md with QGIS itself, run by the Python that has it, without a window.

Arguments: the folder of the plugin, a map (.png), districts (.gpkg), a change (.tif), and the picture to write.
"""

import os
import sys

from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsFillSymbol,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsPalLayerSettings,
    QgsRasterLayer,
    QgsSingleSymbolRenderer,
    QgsTextBufferSettings,
    QgsTextFormat,
    QgsVectorLayer,
    QgsVectorLayerSimpleLabeling,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor, QFont, QImage, QPainter

WIDTH, HEIGHT, TOP, GAP, DPI = 560, 740, 52, 24, 144  # pixels
TITLES = ("People in districts, in May", "What changed in June")
LABEL = '"area" || \'\\n\' || format_number("people_low", 0) || \' to \' || format_number("people_high", 0)'


def text_format(size, bold=False, halo=False):
    """Return the letters of labels."""
    made = QgsTextFormat()
    font = QFont("Inter")
    font.setBold(bold)
    made.setFont(font)
    made.setSize(size)
    made.setColor(QColor("#1D2329"))
    if halo:
        around = QgsTextBufferSettings()
        around.setEnabled(True)
        around.setSize(0.7)
        around.setColor(QColor(255, 255, 255, 210))
        made.setBuffer(around)
    return made


def outlined(path, *, labels):
    """Return the districts as outlines, with the range of their people if asked for."""
    layer = QgsVectorLayer(path, "Districts", "ogr")
    symbol = QgsFillSymbol.createSimple({"style": "no", "outline_color": "#56606A", "outline_width": "0.25"})
    layer.setRenderer(QgsSingleSymbolRenderer(symbol))
    if labels:
        settings = QgsPalLayerSettings()
        settings.fieldName, settings.isExpression = LABEL, True
        settings.setFormat(text_format(7, halo=True))
        layer.setLabeling(QgsVectorLayerSimpleLabeling(settings))
        layer.setLabelsEnabled(True)
    return layer


def map_of(layers, extent):
    """Draw layers, the first on top, and return the picture."""
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:3857"))
    settings.setExtent(extent)
    settings.setOutputSize(QSize(WIDTH, HEIGHT))
    settings.setOutputDpi(DPI)
    settings.setBackgroundColor(QColor("#F4F2ED"))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    return job.renderedImage()


def draw(heat, areas, change, target):
    """Draw both maps side by side, with a title above each."""
    from dpheatmap_processing.layer_style import paint

    rasters = [QgsRasterLayer(heat, "Heat"), QgsRasterLayer(change, "Change")]
    outlines = [outlined(areas, labels=labels) for labels in (True, False)]
    assert all(layer.isValid() for layer in (*rasters, *outlines))
    paint(rasters[1], "change")
    sheet = QImage(2 * WIDTH + GAP, TOP + HEIGHT, QImage.Format_RGB32)
    sheet.fill(QColor("white"))
    painter = QPainter(sheet)
    painter.setPen(QColor("#1D2329"))
    font = QFont("Inter")
    font.setPixelSize(26)
    font.setBold(True)
    painter.setFont(font)
    for number, title in enumerate(TITLES):
        left = number * (WIDTH + GAP)
        painter.drawText(left, TOP - 16, title)
        painter.drawImage(left, TOP, map_of([outlines[number], rasters[number]], rasters[0].extent()))
    painter.end()
    assert sheet.save(target)


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.path.insert(0, sys.argv[1])
    QgsApplication.setPrefixPath(os.environ.get("QGIS_PREFIX_PATH", "/usr"), True)
    application = QgsApplication([], False)
    application.initQgis()
    draw(*sys.argv[2:])
    application.exitQgis()
