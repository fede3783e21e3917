"""Several groups at once (images, and later hours and districts): one table, one release a group.

**Contract of `release_groups`.** All the releases together are epsilon-DP for adding or removing one person's whole
data, whatever groups it is about.

**Why, if a person's weight is split** (the default). The quadtrees of the groups are a forest, and the argument of
`measure.py` never uses that there is one root. Its step 1 is about one measurement. Step 2 multiplies over the
measurements of all trees: noises are independent, and what is measured in a tree follows from the noisy values of that
tree (in the ladder, from looks that bring a factor without data for each tree), so the ratio of the probabilities of
any joint output is at most ``exp(sum over v of b_v p(v) / W)``, v over the measured cells of all groups. Step 3
exchanges sums: this is the sum, over the finest cells c of all groups, of p(c) times what was spent along c's path *in
its own tree*. That is at most epsilon in every tree, so the sum is at most epsilon times the person's units in all
groups together; and those are at most W, because the one query (`query.py`) shares W units over all of a person's
events in all listed groups. Hence each group is measured with the full epsilon, and the promise for all of them
together is epsilon.

**Why, if epsilon is split.** Each group has a release of its own, of epsilon / k for k groups, in which a person weighs
up to 1; the parts are exact fractions that add up to epsilon. This is better only for people who are in nearly all
groups.

The list of groups is public: one found in the data would tell which groups occur. Every group of the list gets a
release, also one that nobody is in, and events in other groups are as if outside the domain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from dpheatmap._util.options import shows_options
from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import Progress, count, public_domain
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.ledger.payment import Payment
from dpheatmap.curator.publish import ReleaseOptions, design_for, measure_release, split_options
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.remarks import tell_on_terminal
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.settings import Settings
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.slicing.axis import Axis, listed_names

if TYPE_CHECKING:
    from dpheatmap.curator.read.slice_numbers import Slices


@shows_options(Settings, Reading)
def release_images(
    events: Any,
    domain: Domain,
    *,
    image: str,
    images: Iterable[str],
    epsilon: Any,
    split: str = "weight",
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> dict[str, Release]:
    """Measure where people are on each of several images, all together under user-level epsilon-differential privacy.

    Parameters
    ----------
    events : path, data frame, relation or URL
        What :func:`aggregate` takes.
    domain : Domain
        The public place that all images have: an image's size, or the unit square.
    image : str
        The column that tells which image an event is on.
    images : iterable of str
        The public list of images to release.
    epsilon : number, str or Fraction
        How much may leak about a person, all images together.
    split : {"weight", "epsilon"}, default "weight"
        By "weight" each image is measured with the full epsilon, and a person's weight of 1 is shared over all their
        events on all listed images; by "epsilon" each image gets an equal part of epsilon, and a person weighs up to 1
        on each.
    ledger, population
        As for :func:`release`; charged once.
    progress : callable, optional
        Called while the table is read, with the part done (below 0 if unknown) and the seconds gone by.
    seen : callable, optional
        Shown a report of each reading of the table: exact numbers, for the data holder's eyes.
    **options
        The design's settings, and how the table is read.

    Returns
    -------
    dict of str to Release
        A release for every image of the list.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> looks = generated_people(300).project("*, CASE WHEN x < y THEN 'a.jpg' ELSE 'b.jpg' END AS stimulus")
    >>> columns = {"image": "stimulus", "user": "person", "x": "x", "y": "y"}
    >>> made = dph.release_images(looks, dph.Domain.unit(6), images=["a.jpg", "b.jpg"], epsilon=1, **columns)
    >>> {name: str(release.epsilon) for name, release in made.items()}
    {'a.jpg': '1', 'b.jpg': '1'}
    """
    from dpheatmap.curator.read.slice_numbers import Slices

    check(image=image)
    slices = Slices(Axis(None, listed_names(images, "images")), group=image)
    return release_groups(
        events, domain, slices, epsilon, split, ledger=ledger, population=population, progress=progress, seen=seen,
        **options,
    )  # fmt: skip


def release_groups(
    events: Any,
    domain: Domain,
    slices: Slices,
    epsilon: Any,
    split: str,
    *,
    ledger: str | PathLike[str] | Ledger | None,
    population: str | None,
    progress: Progress | None,
    seen: Callable[[RowReport], None] | None,
    **options: Unpack[ReleaseOptions],
) -> dict[str, Release]:
    """Make a release for each group. See the contract above."""
    from dpheatmap.curator.read.slice_numbers import Slices

    check(split=split)
    names, whole = slices.axis.groups, PureLoss.read(epsilon)
    # This refuses an epsilon that the release's file could not hold.
    each = PureLoss.read(whole.epsilon / (len(names) if split == "epsilon" else 1))
    settings, reading = split_options(options)
    design = design_for(public_domain(domain), each, settings)
    payment = Payment.prepare(ledger, population, whole, reading.people, events)
    readings = [names] if split == "weight" else [(name,) for name in names]
    counts = []
    for listed in readings:
        found = count(events, domain, reading, slices=Slices(Axis(None, listed), group=slices.group), progress=progress)
        if seen is not None and found[0].report is not None:
            seen(found[0].report)
        counts += found
    entry = payment.charge()  # all groups together cost epsilon, once
    made = {
        name: measure_release(of_group, each, design, os.urandom, payment.made, entry)
        for name, of_group in zip(names, counts, strict=True)
    }
    if seen is None:
        tell_on_terminal(counts[0].report)
    return made
