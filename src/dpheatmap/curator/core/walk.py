"""The walk through a design's questions. No design is trusted: each step is checked before it is answered.

**Contract of `walk`.** Whatever the design, the shares of all questions that are answered add up to at most SHARES
along each path from the top of the tree down to a finest cell (`budget.py`). An error stops the walk before a question
that would overspend is answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dpheatmap.curator.core.budget import EVERYTHING, check_paths, copy_question
from dpheatmap.design.design import AskingDesign, Question
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints


def walk(design: AskingDesign, domain: Domain, loss: PrivacyLoss, answer: Callable[[Question], Ints]) -> None:
    """Ask all questions of a design, each before those that follow from it.

    A design is handed copies, and its questions are copied before they are checked: whatever it does to them later,
    what is checked is what is asked, and what was measured stays as it is.
    """
    first = copy_question(design.begin(domain))
    check_paths(EVERYTHING, [first])
    waiting = deque([first])
    while waiting:
        asked = waiting.popleft()
        noisy = answer(asked)
        following = [
            copy_question(question) for question in design.after(domain, loss, copy_question(asked), noisy.copy())
        ]
        check_paths(asked, following)
        waiting.extend(question for question in following if len(question.cells))
