"""The site that `scripts/docs` builds: whole, in order, and with nothing from other hosts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
import yaml

import dpheatmap as dph
from helpers import ROOT

SECTIONS = ["Start", "Guides", "Explanation", "Reference", "Development"]
ASSET = re.compile(
    r"""<(?:script|img|iframe|source|audio|video|embed)\b[^>]*?\bsrc\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b[^>]*?\bhref\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|(?:@import\s+["']|url\(\s*["']?)((?:https?:)?//[^"')]+)"""
)
"""Whatever a browser fetches by itself from another host; links that a reader follows are not meant."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as by the script: a page or a link that is missing stops it."""
    folder = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def navigation() -> dict[str, list[str]]:
    """The pages of each section, in order."""
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    return {
        name: [page if isinstance(page, str) else next(iter(page.values())) for page in pages]
        for section in sections
        for name, pages in section.items()
    }


def test_the_sections_are_in_order_and_name_every_page() -> None:
    found = navigation()
    assert list(found) == SECTIONS
    listed = [page for pages in found.values() for page in pages]
    on_disk = [path for kind in ("*.md", "*.ipynb") for path in (ROOT / "docs").rglob(kind)]
    assert sorted(listed) == sorted(str(path.relative_to(ROOT / "docs")) for path in on_disk)
    for section, pages in found.items():
        assert {page.partition("/")[0] for page in pages} <= {section.lower(), "index.md"}


def test_every_page_of_the_navigation_is_built(site: Path) -> None:
    start = (site / "index.html").read_text()
    for page in (page for pages in navigation().values() for page in pages):
        built = Path(page).with_suffix(".html")
        assert (site / built).is_file(), page
        assert page == "index.md" or f'href="{built}"' in start, page


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    page = (site / "reference/api.html").read_text()
    for name in [*dph.__all__, *(f"collect.{name}" for name in dph.collect.__all__)]:
        assert f'id="dpheatmap.{name}"' in page, name
    assert "bad_lines" in page, "options that a decorator lists at run time are there"
    assert not re.search(r":(?:func|meth|class|mod):", page), "roles of docstrings are links"
    assert "<blockquote>" not in page, "examples of docstrings are code"


def test_the_notebook_is_a_page_with_its_outputs(site: Path) -> None:
    page = (site / "guides/notebook.html").read_text()
    assert "Heatmaps in a notebook" in page
    assert page.count('class="notebook-output"') == 4
    assert "NOTEBOOKOUTPUT" not in page


def test_search_finds_pages_and_names(site: Path) -> None:
    entries = json.loads((site / "search/search_index.json").read_text())["docs"]
    places = {unescape(entry["location"]) for entry in entries}
    assert {"start/guide.html", "reference/api.html", "reference/api.html#dpheatmap.release"} <= places


def test_nothing_comes_from_other_hosts(site: Path) -> None:
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        assert not ASSET.findall(path.read_text()), path.name


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://other.example/a.js">', '<link rel="stylesheet" href=//other.example/a.css>',
        "<img alt='' src='http://other.example/a.png'>", "@import url(https://other.example/font)",
    ],
)  # fmt: skip
def test_what_comes_from_other_hosts_would_be_found(text: str) -> None:
    assert ASSET.search(text)
