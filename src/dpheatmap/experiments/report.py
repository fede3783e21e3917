"""Reports of experiments in Markdown: figures, and every claim with its finding."""

from __future__ import annotations

from collections.abc import Sequence

from dpheatmap.experiments.study_runner import Outcome


def report(outcomes: Sequence[Outcome]) -> str:
    """Write a table of all claims, then one section an experiment."""
    findings = [(outcome, finding) for outcome in outcomes for finding in outcome.findings]
    claims = [finding for _, finding in findings if not finding.ours]
    held = sum(finding.held for finding in claims)
    rows = [
        f"| {outcome.name} | {finding.claim} | {'held' if finding.held else '**not held**'} |"
        for outcome, finding in findings
    ]
    head = ["| experiment | claim | here |", "|---|---|---|", *rows]
    return "\n".join([f"{held} of the paper's {len(claims)} claims held.\n", *head, "", *map(_section, outcomes)])


def _section(outcome: Outcome) -> str:
    pictures = "\n\n".join(f"![{outcome.title}: {figure.stem}]({figure.name})" for figure in outcome.figures)
    told = "\n".join(
        f"- {'Held' if finding.held else '**Not held**'}: {finding.claim}. {_sentence(finding.evidence)}"
        for finding in outcome.findings
    )
    return f"## {outcome.title}\n\nData: {outcome.data}.\n\n{pictures}\n\n{told}\n"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
