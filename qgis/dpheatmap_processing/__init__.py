"""The QGIS plugin of dpheatmap: Processing algorithms that call the installed command."""


def classFactory(iface):
    """Make the plugin, when QGIS loads it; ``iface`` is None without windows."""
    from .plugin import Plugin

    return Plugin()
