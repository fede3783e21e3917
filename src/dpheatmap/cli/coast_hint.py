"""A hint for whoever makes a map of a place so small that its coast comes with another package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpheatmap.cli.output_files import MAPS, Files
from dpheatmap.cli.shared_options import look_for
from dpheatmap.cli.terminal import say
from dpheatmap.place.domain import Domain
from dpheatmap.render import is_release

HINT = "Coast and rivers of a map this small come with another package: pip install 'dpheatmap[coast]'"

_INSTEAD = ("bare", "context", "tiles")  # options that draw another ground, or none


def hint_at_coast(domain: Domain, outputs: Sequence[str], look: Mapping[str, Any], files: Files = MAPS) -> None:
    """Say how to get a coast if one of the outputs would show it, and it is not installed."""
    from dpheatmap.render.basemap.backdrop import lacks_coast

    drawn = [output for output in outputs if not is_release(output)]
    if domain.geographic and any(_shows_coast(one, look, files) for one in drawn) and lacks_coast(domain.bounds):
        say(HINT)


def _shows_coast(output: str, look: Mapping[str, Any], files: Files) -> bool:
    chosen = look_for(output, look, files)
    return "basemap" in files.options_of(output) and chosen.get("basemap", True) and not chosen.keys() & set(_INSTEAD)
