"""What became of mutants and of their controls, kept in files; and the report of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from mutation.mutants import Mutant, original
from mutation.trials import SURVIVED, Fate


class Record:
    """The fates of mutants, oldest first, in a file of which each line is a trial."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(exist_ok=True)
        self.file = file
        self.fates: dict[Mutant, list[Fate]] = {}
        for line in file.read_text().splitlines() if file.exists() else ():
            noted = json.loads(line)
            mutant = Mutant(*noted["mutant"])
            if noted["of"] == digest(mutant.module):
                self.fates.setdefault(mutant, []).append(Fate(*(noted[field] for field in Fate._fields)))

    def add(self, mutant: Mutant, fate: Fate) -> None:
        """Note a trial; of several processes that do so, none disturbs another."""
        noted = {"mutant": mutant, "of": digest(mutant.module), "change": mutant.difference, **fate._asdict()}
        with self.file.open("a") as file:
            file.write(json.dumps(noted) + "\n")

    @property
    def survivors(self) -> list[Mutant]:
        """The mutants that no trial has killed."""
        return [mutant for mutant, fates in self.fates.items() if fates[-1].word == SURVIVED]

    def kills(self, *, again: bool) -> dict[Mutant, Fate]:
        """The mutants that were killed, by their first trial or by a later one."""
        last = {mutant: fates[-1] for mutant, fates in self.fates.items() if (len(fates) > 1) == again}
        return {mutant: fate for mutant, fate in last.items() if fate.word != SURVIVED}


def digest(module: str) -> str:
    """By which a module is known to be as it was."""
    return hashlib.sha256(original(module).encode()).hexdigest()[:16]


def report(found: dict[str, list[Mutant]], record: Record, controls: Record) -> None:
    """A table by module, the controls and the survivors. The score weighs each module by the number of its mutants.

    A kill whose control failed, too, says nothing about the mutant: it counts as not tried.
    """
    false = set(controls.kills(again=False))
    fates = {mutant: words for mutant, words in record.fates.items() if mutant not in false}
    print("| module | mutants | tried | killed at first | killed now |\n|---|---|---|---|---|")
    found = {module: mine for module, mine in found.items() if any(mutant in fates for mutant in mine)}
    every, number = sum(map(len, found.values())), 0
    scores, variance = [0.0, 0.0], 0.0
    for module, mine in found.items():
        tried = [fates[mutant] for mutant in mine if mutant in fates]
        killed = [sum(of_mutant[at].word != SURVIVED for of_mutant in tried) for at in (0, -1)]
        print(f"| `{module}` | {len(mine)} | {len(tried)} | {killed[0]} | {killed[1]} |")
        number += len(tried)
        weight = len(mine) / every
        scores = [score + weight * count / len(tried) for score, count in zip(scores, killed, strict=True)]
        likely = (killed[0] + 1) / (len(tried) + 2)  # so that few tries without a survivor don't count as certainty
        variance += weight**2 * likely * (1 - likely) / len(tried) * (1 - len(tried) / len(mine))
    print(f"| all, weighted | {every} | {number} | {scores[0]:.1%} ± {variance**0.5:.1%} | {scores[1]:.1%} |\n")
    print(f"Of {len(controls.fates)} kills repeated with nothing changed, {len(false)} came again.\n")
    for what, these in {"false": false, "survived": record.survivors}.items():
        for mutant in sorted(mutant for mutant in these if mutant.module in found):
            print(f"- {what} `{mutant.module}:{mutant.line}` {mutant.operator}: `{mutant.difference}`")
