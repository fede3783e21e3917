"""Adds compiled kernels to a wheel, which is then for one platform, if DPHEATMAP_KERNELS names their folder."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsInWheel(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook. Without kernels the wheel is for every platform, and compiles them when they are first used."""

    PLUGIN_NAME = "kernels"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Tell hatchling what else goes into the wheel, and for whom it is."""
        folder = os.environ.get("DPHEATMAP_KERNELS")
        if folder and self.target_name == "wheel":
            build_data["force_include"][folder] = "dpheatmap/_kernels"
            build_data["tag"] = f"py3-none-{platform_tag()}"
            build_data["pure_python"] = False


def platform_tag() -> str:
    """The platform of a wheel. Kernels call Python and numba alone, so whatever C library numba has will do."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return name.replace("linux_", "manylinux_2_17_") if sys.platform == "linux" else name
