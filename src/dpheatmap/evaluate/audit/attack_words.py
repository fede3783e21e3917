"""The result of an attack in plain words: out of 100 people who guess, how many are right?"""

from __future__ import annotations

import math

from dpheatmap.evaluate.audit.membership import Attack, Attempt

TITLE = "Can anyone tell whether you took part?"
BY_CHANCE = "Where the attack runs above the promise, it is by chance: the ranges reach it."


def of_100(part: float, coin: float = 0.5) -> str:
    """A part of guesses as a number of 100; with decimals if it would look like a coin's, or like certainty.

    >>> of_100(0.7311), of_100(0.50021), of_100(0.99966), of_100(0.5), of_100(1.0)
    ('73', '50.02', '99.97', '50', '100')
    """
    places = 0
    for end in (coin, 1.0):
        if 0 < abs(part - end) < 0.005:
            places = max(places, math.ceil(-math.log10(100 * abs(part - end))))
    return f"{100 * part:.{min(places, 6)}f}"


def range_of(attempt: Attempt) -> str:
    """The range of right guesses, of 100."""
    low, high = (round(100 * end) for end in attempt.range)
    return f"{low} to {high}" if low < high else f"{100 * attempt.range[0]:.1f} to {100 * attempt.range[1]:.1f}"


def takeaway(attack: Attack) -> str:
    """The sentence that a board reads."""
    best, most = of_100(attack.strongest.accuracy), of_100(attack.bound.accuracy)
    return (
        "Of 100 people who guess whether you took part, and know everything else, 50 are right by tossing a coin, "
        f"at most {most} by what {_these(attack)}, and {best} by the best attack."
    )


def _these(attack: Attack) -> str:
    many = len(attack.losses)
    return "this release promises" if many == 1 else f"these {many} releases promise together"


def badge(attack: Attack) -> str:
    """The promise."""
    return f"Promise: {attack.loss} per person".replace("epsilon", "ε").replace("delta", "δ")


def verdict(attack: Attack) -> str:
    """The result in words, with how sure it is."""
    sure = f"false-alarm rate {attack.false_alarm:g}"
    if not attack.fails:
        return f"Not refuted: the attack finds no more than was promised ({sure})."
    attempt, worst = max(
        ((attempt, threshold) for attempt in attack.attempts for threshold in attempt.thresholds),
        key=lambda pair: pair[1].found[0] - pair[1].allowed,
    )
    return (
        f"FAILED: of 100 participants who are {attempt.target}, the attack finds at least {100 * worst.found[0]:.1f}, "
        f"and the promise allows {100 * worst.allowed:.1f} ({sure})."
    )


def small_print(attack: Attack) -> str:
    """How it was done."""
    invented = ", ".join(f"{others:,}" for others in attack.others)
    fewer = [f"{told:,}" for told, others in zip(attack.people, attack.others, strict=True) if others < 0.99 * told]
    less = f" (for speed, fewer than the {', '.join(fewer)} that the map tells)" if fewer else ""
    low, high = (100 * end for end in attack.strongest.range)
    return (
        f"No data was read but the published release. {invented} people were invented from its map{less}, and released "
        f"{attack.runs:,} times without and {attack.runs:,} times with one more. The attacker knows all others, the "
        "method and the law of the noise, and guesses by the likelihood ratio or by a sum. If the noise is as "
        f"documented, no attack on these people is right more often. Right by the attack: {low:.1f} to {high:.1f} of "
        f"100; 9 in 10 such ranges hold the truth. Right by the promise: at most {100 * attack.bound.accuracy:.2f}. A "
        f"sound installation is called unsound once in {1 / attack.false_alarm:,.0f} such attacks, at most."
    )


def as_text(attack: Attack) -> str:
    """The sentence, a line for each target, and the verdict."""
    rows = [("you are", "right of 100", "range", "")]
    rows += [(one.target, of_100(one.accuracy), range_of(one), one.where) for one in attack.attempts]
    lines = [f"{who:<15} {right:>12}   {ends:<12} {where}".rstrip() for who, right, ends, where in rows]
    return "\n".join([TITLE, "", takeaway(attack), "", *lines, "", small_print(attack), "", verdict(attack)])
