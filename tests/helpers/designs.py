"""Designs for tests, and a walk through their questions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from fractions import Fraction

from dpheatmap.design.design import AskingDesign, Question
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import PAPER_DECAY
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints

Answer = Callable[[Question], Ints]
"""Gives the noisy counts that a question is answered with."""


def paper_design(shares: Mapping[int, int], width: int) -> PaperDesign:
    """The paper's design with these shares, whatever decay they come from."""
    return PaperDesign(shares, width, PAPER_DECAY)


def walked(design: AskingDesign, domain: Domain, epsilon: Fraction, answer: Answer) -> list[Question]:
    """All questions of a design in the order in which they are asked, unchecked."""
    asked: list[Question] = []
    waiting = deque([design.begin(domain)])
    while waiting:
        asked.append(waiting.popleft())
        waiting.extend(q for q in design.after(domain, PureLoss(epsilon), asked[-1], answer(asked[-1])) if len(q.cells))
    return asked
