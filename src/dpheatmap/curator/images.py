"""Several images at once: one table of gaze, clicks or positions, one release an image.

**Contract of `release_images`.** All the releases together are epsilon-DP for adding or removing one person's whole
data, whatever images it is about.

**Why, if a person's weight is split** (the default). The quadtrees of the images are a forest, and the argument of
`measure.py` never uses that there is one root. Its step 1 is about one measurement. Step 2 multiplies over the
measurements of all trees: noises are independent, and what is measured in a tree follows from the noisy values of that
tree, so the ratio of the probabilities of any joint output is at most ``exp(sum over v of b_v p(v) / W)``, v over the
measured cells of all images. Step 3 exchanges sums: this is the sum, over the finest cells c of all images, of p(c)
times what was spent along c's path *in its own tree*. That is at most epsilon in every tree, so the sum is at most
epsilon times the person's units on all images together; and those are at most W, because the one query (`query.py`)
shares W units over all of a person's events on all listed images. Hence each image is measured with the full epsilon,
and the promise for all of them together is epsilon.

**Why, if epsilon is split.** Each image has a release of its own, of epsilon / k for k images, in which a person weighs
up to 1; the parts are exact fractions that add up to epsilon. Better only for people who are on nearly all images.

The list of images is public: one found in the data would tell which images were looked at. Every image of the list gets
a release, also one that nobody looked at, and events on other images are as if outside the domain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from dpheatmap.budget import read_epsilon
from dpheatmap.curator.aggregate import aggregate_pictures, checked_domain
from dpheatmap.curator.api import measured_release
from dpheatmap.curator.choice import chosen_design, settings_in
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.curator.payment import Payment
from dpheatmap.domain import Domain
from dpheatmap.parameters import check
from dpheatmap.release import Release

__all__ = ["release_images"]


def release_images(
    events: Any,
    domain: Domain,
    *,
    image: str,
    images: Iterable[str],
    epsilon: Any,
    split: str = "weight",
    seen: Callable[[Counts], None] | None = None,
    **options: Any,
) -> dict[str, Release]:
    """Measure where people are on each of several images, all together under user-level epsilon-differential privacy.

    ``image`` names the column that tells which image an event is on, and ``images`` is the public list of those to
    release; all have the one ``domain``, an image's size or the unit square. By ``split`` "weight" each image is
    measured with the full epsilon, and a person's weight of 1 is shared over all their events on all listed images; by
    "epsilon" each image gets an equal part of epsilon, and a person weighs up to 1 on each. ``seen`` is shown counts
    once for each reading of the table. Other options are those of :func:`release`; a ledger is charged epsilon once.

    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> looks = generated_people(300).project("*, CASE WHEN x < y THEN 'a.jpg' ELSE 'b.jpg' END AS stimulus")
    >>> columns = {"image": "stimulus", "user": "person", "x": "x", "y": "y"}
    >>> made = dph.release_images(looks, dph.Domain.unit(6), images=["a.jpg", "b.jpg"], epsilon=1, **columns)
    >>> {name: str(release.epsilon) for name, release in made.items()}
    {'a.jpg': '1', 'b.jpg': '1'}
    """
    check(image=image, split=split)
    names = listed(images)
    whole = read_epsilon(epsilon)
    each = read_epsilon(whole / (len(names) if split == "epsilon" else 1))  # refuses what its file could not hold
    design = chosen_design(checked_domain(domain), each, **settings_in(options))
    part = Part.of(options.get("partition"), options.get("part"))
    payment = Payment.asked_for(options.pop("ledger", None), options.pop("population", None), whole, part, events)
    together = [names] if split == "weight" else [[name] for name in names]
    counts = [
        of for group in together for of in aggregate_pictures(events, domain, image=image, images=group, **options)
    ]
    for of_image in counts[: 1 if split == "weight" else None]:
        if seen is not None:
            seen(of_image)
    entry = payment.charge()  # all images together cost epsilon, once
    return {
        name: measured_release(of_image, each, design, os.urandom, payment.made, entry)
        for name, of_image in zip(names, counts, strict=True)
    }


def listed(images: Iterable[str]) -> list[str]:
    """The public list of images as a list, or what is wrong with it."""
    names = [] if isinstance(images, (str, bytes)) or not isinstance(images, Iterable) else list(images)
    check(images=names)
    return names
