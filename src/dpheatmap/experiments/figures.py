"""The paper's figures by name, and the sources of their data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpheatmap.experiments import (
    ablation,
    gaze,
    generated_data,
    maps,
    resolution,
    rival_methods,
    salicon,
    shuffle,
    snap,
    stand_in_data,
    synthetic,
    users,
)
from dpheatmap.experiments import epsilon as comparison
from dpheatmap.experiments import kmedian_cost as kmedian
from dpheatmap.experiments import local_model as local
from dpheatmap.experiments import theory as bounds
from dpheatmap.experiments.populations import Dataset

STUDIES = {
    m.STUDY.name: m.STUDY
    for m in (comparison, users, resolution, gaze, synthetic, rival_methods, ablation, bounds, shuffle, local)
}
GALLERIES = {gallery.name: gallery for gallery in (maps.CITY, maps.GAZE)}
FIGURES = (*STUDIES, kmedian.NAME, *GALLERIES)


@dataclass(frozen=True)
class Sources:
    """The sources of data: official downloads where their folders are given, else stand-ins; or invented people."""

    snap_folder: Path | None = None
    salicon_folder: Path | None = None
    invented: bool = False

    def cities(self) -> Dataset:
        """The 30 city cells."""
        return self._cities

    def gaze(self) -> Dataset:
        """The 38 images."""
        return self._gaze

    def football(self) -> Dataset:
        """Positions of events on a football pitch, by kind."""
        return self._football

    @cached_property
    def _football(self) -> Dataset:
        return generated_data.football() if self.invented else stand_in_data.football()

    @cached_property
    def _cities(self) -> Dataset:
        if self.invented:
            return generated_data.cities()
        return stand_in_data.cities() if self.snap_folder is None else snap.cities(self.snap_folder)

    @cached_property
    def _gaze(self) -> Dataset:
        if self.invented:
            return generated_data.gaze()
        return stand_in_data.gaze() if self.salicon_folder is None else salicon.gaze(self.salicon_folder)
