"""The difference of two slices of one release, whose errors are related."""

from __future__ import annotations

from functools import cached_property

from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Floats


class SliceDifference(Difference):
    """The map of one slice minus that of another of the same release.

    Slices share the pooled map, so their errors are related, and the variances don't add up. The standard deviation is
    that of the differences of draws that belong together.
    """

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of the release, which both maps are slices of."""
        return self.after.loss

    @property
    def of_one_release(self) -> bool:
        """Both maps are slices of one release, which costs people once."""
        return True

    @cached_property
    def std(self) -> Floats | None:
        """The standard deviation of each change, or None if that of either map is not known."""
        before, after = self.before.uncertainty, self.after.uncertainty
        if before is None or after is None:
            return None
        return after.std_of_change(before, self.before.values, self.after.values)
