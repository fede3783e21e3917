"""The provider of the algorithms, with its icon and the setting of the command."""

import os

from processing.core.ProcessingConfig import ProcessingConfig, Setting
from qgis.core import QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from .algorithms import ALGORITHMS, SETTING

ICON = os.path.join(os.path.dirname(__file__), "icon.svg")


class Provider(QgsProcessingProvider):
    """dpheatmap in Processing's list."""

    def id(self):
        """Return the name in models and scripts."""
        return "dpheatmap"

    def name(self):
        """Return the name that users see."""
        return "dpheatmap"

    def icon(self):
        """Return the icon."""
        return QIcon(ICON)

    def svgIconPath(self):
        """Return the path of the icon."""
        return ICON

    def load(self):
        """Add the setting of the command, and the algorithms."""
        ProcessingConfig.settingIcons["dpheatmap"] = self.icon()
        ProcessingConfig.addSetting(
            Setting("dpheatmap", SETTING, "The dpheatmap command, if it is not on the PATH", "", valuetype=Setting.FILE)
        )
        ProcessingConfig.readSettings()
        self.refreshAlgorithms()
        return True

    def unload(self):
        """Take the setting away."""
        ProcessingConfig.removeSetting(SETTING)

    def loadAlgorithms(self):
        """List the algorithms."""
        for algorithm in ALGORITHMS:
            self.addAlgorithm(algorithm())

    def supportedOutputRasterLayerExtensions(self):
        """Return the endings of rasters: a painted picture, or numbers."""
        return ["png", "tif"]

    def supportedOutputVectorLayerExtensions(self):
        """Return the endings of areas."""
        return ["gpkg", "geojson"]
