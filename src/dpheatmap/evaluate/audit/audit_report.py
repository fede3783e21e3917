"""Reports of an audit for a reviewer: text for a terminal, and one HTML page with a plot."""

from __future__ import annotations

from html import escape

from dpheatmap.design.shares import exact_text
from dpheatmap.evaluate.audit.audit import Audit, Finding
from dpheatmap.evaluate.audit.shapes import CHOOSING

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1e1e26 }
table { border-collapse: collapse; width: 100%; font-size: .85rem } th, td { text-align: left; padding: .3rem .6rem }
th { border-bottom: 1px solid #6a6a74 } td { border-bottom: 1px solid #e3e3e8 } .verdict { font-weight: 600 }
td.n { text-align: right; font-variant-numeric: tabular-nums } svg { width: 100%; height: auto } .bad { color: #c81020 }
"""
_LEFT, _RIGHT, _ROW = 230, 40, 26


def as_text(audit: Audit) -> str:
    """Write the bounds as lines with bars up to the promise, and the verdict."""
    names = [_name(finding) for finding in audit.findings]
    wide = max(map(len, names))
    lines = [f"Lower bounds on epsilon; promised: {exact_text(audit.epsilon)}.", ""]
    for name, finding in zip(names, audit.findings, strict=True):
        part = max(0.0, min(finding.epsilon / float(audit.epsilon), 1.5))
        lines.append(f"{name:<{wide}}  {max(finding.epsilon, 0):6.3f}  {'█' * round(20 * part)}  {finding.why}")
    return "\n".join([*lines, "", audit.verdict])


def as_html(audit: Audit, software: str) -> str:
    """Write one HTML page, which loads nothing from elsewhere."""
    rows = "".join(_row(audit, finding) for finding in audit.findings)
    wrong = ' class="verdict bad"' if audit.refuted else ' class="verdict"'
    runs = sum(2 * finding.runs for finding in audit.findings)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Privacy audit</title><style>{_STYLE}</style>
<h1>Privacy audit of {escape(software)}</h1>
<p{wrong}>{escape(audit.verdict)}</p>
<p>Each row is a pair of data sets that differ by one person, released alone, from one file or several, as several
images, or in search of a box. Both were released again and again with an epsilon of
{exact_text(audit.epsilon)}: {runs:,} runs in {audit.seconds:.0f} seconds. Whatever event of the output has
probability p with the person and p&prime; without them (or the other way round), epsilon is at least log(p/p&prime;).
One run of {CHOOSING} chose the events that looked worst; the others judged them by the exact bounds of Clopper and
Pearson. The false-alarm rate of {audit.false_alarm:g} is divided over everything that was tried: with at least the
rest of the probability, the true epsilon is no smaller than the bounds. Where several people are added and a part of a
release is looked at, the bound is divided by what the promise allows them, in epsilons.</p>
{_plot(audit)}
<p>A bound above the promise refutes it. A bound below it is what an attacker with these events certainly learns; that
there is nothing more to learn than the promise is a matter of proof, not of audits.</p>
<table><tr><th>data sets</th><th>design</th><th>what is tried</th><th>runs, each</th><th>worst event</th>
<th>likelier</th><th>with, without</th><th>bound</th></tr>{rows}</table>
</html>
"""


def _name(finding: Finding) -> str:
    return f"{finding.shape}, {finding.design}"


def _row(audit: Audit, finding: Finding) -> str:
    worst = finding.bounds[0]
    hits = (worst.hits, worst.hits_otherwise)
    with_them, without = hits if worst.likelier == "with them" else hits[::-1]
    cells = [
        finding.shape, finding.design, finding.why, f"{finding.runs:,}", f"{worst.statistic}: {worst.event}",
        worst.likelier, f"{with_them:,}, {without:,} of {worst.runs:,}", f"{finding.epsilon:.3f}",
    ]  # fmt: skip
    wrong = ' class="bad"' if finding.epsilon > audit.epsilon else ""
    return f"<tr{wrong}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _plot(audit: Audit) -> str:
    """Plot a dot for each pair of data sets, and a line at the promise."""
    promised = float(audit.epsilon)
    end = 1.15 * max(promised, audit.bound)
    width, height = 900, _ROW * len(audit.findings) + 60

    def x(value: float) -> float:
        return _LEFT + (width - _LEFT - _RIGHT) * max(0.0, min(value, end)) / end

    parts = [
        f'<line x1="{x(promised):.1f}" y1="18" x2="{x(promised):.1f}" y2="{height - 40}" stroke="#c81020" '
        'stroke-width="2"/>',
        f'<text x="{x(promised):.1f}" y="12" fill="#c81020" text-anchor="middle">promised: '
        f"{exact_text(audit.epsilon)}</text>",
        f'<line x1="{_LEFT}" y1="{height - 40}" x2="{width - _RIGHT}" y2="{height - 40}" stroke="#6a6a74"/>',
    ]
    for tick in range(5):
        at = promised * tick / 4
        parts.append(f'<text x="{x(at):.1f}" y="{height - 22}" fill="#6a6a74" text-anchor="middle">{at:.3g}</text>')
    parts.append(
        f'<text x="{(_LEFT + width - _RIGHT) / 2}" y="{height - 4}" fill="#6a6a74" text-anchor="middle">'
        "lower bound on epsilon</text>"
    )
    for place, finding in enumerate(audit.findings):
        y, colour = 34 + _ROW * place, "#c81020" if finding.epsilon > promised else "#0072b2"
        parts += [
            f'<text x="{_LEFT - 10}" y="{y + 5}" text-anchor="end" fill="#1e1e26">{escape(_name(finding))}</text>',
            f'<line x1="{_LEFT}" y1="{y}" x2="{x(finding.epsilon):.1f}" y2="{y}" stroke="{colour}" stroke-width="3"/>',
            f'<circle cx="{x(finding.epsilon):.1f}" cy="{y}" r="5" fill="{colour}"/>',
        ]
    return f'<svg viewBox="0 0 {width} {height}" font-size="13" font-family="sans-serif">{"".join(parts)}</svg>'
