"""The plugin: it adds the provider of algorithms to Processing, and takes it away."""

from qgis.core import QgsApplication

from .provider import Provider


class Plugin:
    """What QGIS starts and ends."""

    def __init__(self):
        self.provider = None

    def initProcessing(self):
        """Add the algorithms; QGIS without windows calls only this."""
        self.provider = Provider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self):
        """Start in a window."""
        self.initProcessing()

    def unload(self):
        """Take the algorithms away."""
        if self.provider is not None:
            QgsApplication.processingRegistry().removeProvider(self.provider)
            self.provider = None
