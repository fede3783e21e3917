"""Papers for an auditor: the citation, the answers to the guideline, figures of others, and what "safe" means."""

from __future__ import annotations

import math
import re
import tomllib
from typing import Any

import pytest
import yaml

import dpheatmap as dph
from dpheatmap.releases.deployment_entry import blanks_of, deployment_entry
from dpheatmap.releases.deployment_schema import VERSION
from dpheatmap.testing import generated_people
from helpers import ROOT

CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
NIST = (ROOT / "docs/explanation/nist-800-226.md").read_text()
EPSILON = (ROOT / "docs/guides/choosing-epsilon.md").read_text()
PAPERS = (ROOT / "docs/guides/papers.md").read_text()

# Of the Citation File Format 1.2.0: keys of a file and of a reference that we use, and what must be there.
OF_FILE = {
    "cff-version", "message", "type", "title", "abstract", "authors", "version", "license", "keywords", "references",
}  # fmt: skip
OF_REFERENCE = {"type", "title", "authors", "conference", "year", "notes"}
OF_PERSON = {"family-names", "given-names"}
OF_ENTITY = {"name"}


def rows_of(page: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first row begins with a heading."""
    table = page[page.index(f"| {heading} |") :].split("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]


def test_the_citation_has_the_fields_of_its_format() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert {"authors", "cff-version", "message", "title"} <= CITATION.keys() <= OF_FILE
    assert CITATION["type"] == "software"
    texts = [CITATION[key] for key in ("message", "title", "abstract", "version", "license")]
    assert all(isinstance(text, str) and text for text in [*texts, *CITATION["keywords"]])
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"])
    for reference in CITATION["references"]:
        assert {"authors", "title", "type"} <= reference.keys() <= OF_REFERENCE
        assert type(reference["year"]) is int
        assert reference["conference"].keys() == OF_ENTITY
    for author in [*CITATION["authors"], *(author for work in CITATION["references"] for author in work["authors"])]:
        assert author.keys() in (OF_PERSON, OF_ENTITY)
        assert all(isinstance(name, str) and name for name in author.values())


def test_the_citation_is_of_this_software_and_of_its_method() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (CITATION["version"], CITATION["license"]) == (dph.__version__, project["license"])
    (paper,) = CITATION["references"]
    readme = (ROOT / "README.md").read_text()
    assert f"*{paper['title']}*" in " ".join(readme.split())
    assert all(author["family-names"] in readme for author in paper["authors"])


def test_the_guideline_is_answered_in_every_cell() -> None:
    """Each row says what is asked, what is done, where, and what is left; a subject that does not apply says so."""
    chapters = re.findall(r"^## (.+)$", NIST, re.MULTILINE)
    assert [name.split(":")[0] for name in chapters] == [
        "Introduction", "The guarantee", "Algorithms", "Deployment", "In short",
    ]  # fmt: skip
    rows = [row for row in NIST.splitlines() if row.startswith("| ") and not row.startswith("| asked")]
    assert len(rows) > 25
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4, row
        assert all(cells) or cells[1].startswith("Does not apply"), row


def test_the_code_that_the_guideline_s_page_names_is_there() -> None:
    named = re.findall(r"`([\w/-]+\.py)`", NIST)
    assert len(named) > 15
    for name in named:
        assert (ROOT / "src/dpheatmap" / name).is_file(), name


def test_every_epsilon_of_others_has_its_unit() -> None:
    for heading, protected in (("who | what | ε | protected | a year of it, for a person", 3), ("product", 3)):
        rows = rows_of(EPSILON, heading)
        assert len(rows) >= 5
        assert all(re.search("person|trip|not stated", row[protected]) for row in rows)
    assert EPSILON.count("| protected |") == 3


@pytest.mark.parametrize(
    ("rho", "epsilon"), [(4.96, 26.34), (7.70, 34.33), (19.776, 62.5), (17.79, 58.3), (2.515, 17.7)]
)
def test_the_census_s_losses_are_translated_rightly(rho: float, epsilon: float) -> None:
    """Up to the digits that are given of rho and epsilon."""
    row = next(row for row in rows_of(EPSILON, "product") if f"{rho:.2f}" in row[1] or f"{rho}" in row[1])
    assert str(epsilon) in row[2]
    assert translated(rho) == pytest.approx(epsilon, abs=0.06)


def test_the_census_s_losses_are_added_up_rightly() -> None:
    rhos = [float(rho) for row in rows_of(EPSILON, "product") for rho in row[1].split(" and ")]
    assert f"{sum(rhos):.1f}, which is ε = {translated(sum(rhos)):.0f} at" in " ".join(EPSILON.split())
    assert f"{translated(2.56):.2f} and {translated(0.07):.2f}" in " ".join(EPSILON.split())


def translated(rho: float) -> float:
    """The epsilon of a rho at delta = 1e-10."""
    return rho + 2 * math.sqrt(rho * math.log(1e10))


def test_a_year_of_days_and_weeks_is_added_up_rightly() -> None:
    years = {row[1]: row[4] for row in rows_of(EPSILON, "who | what | ε | protected | a year of it, for a person")}
    assert years["Movement Range Maps, 2020"] == f"{2.0 * 365:.0f}"
    assert years["Community Mobility Reports, 2020"] == f"{2.64 * 365:.0f}"
    assert years["Environmental Insights Explorer, 2024"] == f"about {2 * 52}"


def test_the_page_tells_the_version_of_the_schema_and_its_example_leaves_nothing_open() -> None:
    assert all(part in PAPERS for part in VERSION.split(" of "))
    told = tomllib.loads(re.search(r"```toml\n(.*?)```", PAPERS, re.DOTALL)[1])  # type: ignore[index]
    city = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9)
    made = dph.release(generated_people(9), city, epsilon=1, user="person", x="x", y="y")
    assert blanks_of(deployment_entry(made, told)) == []


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_safe_to_publish_says_for_whom_and_against_what(page: str) -> None:
    text = " ".join((ROOT / page).read_text().split())
    after = text[text.index("safe to publish") :][:900].lower()
    assert re.search(r"for each person.*all of their rows", after)
    assert re.search(r"against anyone who sees the map.*whatever else they know", after)
    if page == "README.md":
        assert "*not against* somebody who reaches the table" in after
