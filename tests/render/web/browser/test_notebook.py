"""The example notebook, run and looked at as people look at notebooks: as a page in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from helpers import ROOT
from helpers.browser import Open
from helpers.notebooks import executed

EXAMPLE = ROOT / "docs/guides/notebook.ipynb"
MAPS = ["heat", "smoother", "difference"]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return executed(EXAMPLE, tmp_path_factory.mktemp("notebook"))


def outputs(notebook: Any) -> dict[str, list[dict[str, Any]]]:
    """What each cell showed."""
    return {
        cell.id: [dict(output.get("data", {})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def test_the_notebook_runs_and_the_one_in_the_docs_did(notebook: Any) -> None:
    kept = nbformat.read(EXAMPLE, as_version=4)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in notebook.cells]
    for run in (kept, notebook):
        code = [cell for cell in run.cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        assert not any(output.output_type in ("error", "stream") for cell in code for output in cell.outputs)
    kinds = [{name: [set(data) for data in shown] for name, shown in outputs(run).items()} for run in (kept, notebook)]
    assert kinds[0] == kinds[1]


def test_one_output_carries_the_program_and_every_map_a_still(notebook: Any) -> None:
    found = {name: outputs(notebook)[name][0]["text/html"] for name in MAPS}
    assert [name for name, text in found.items() if 'class="dpheatmap-page"' in text] == ["heat"]
    assert all(len(found[name]) < 500_000 for name in MAPS[1:])
    assert all(text.count('<img src="data:image/png;base64,') == 1 for text in found.values())
    assert all(set(outputs(notebook)[name][0]) >= {"image/png", "text/html"} for name in MAPS[:2])


def test_the_maps_work_on_the_notebooks_page(notebook: Any, open_map: Open, tmp_path: Path) -> None:
    text, _ = HTMLExporter().from_notebook_node(notebook)
    path = tmp_path / "notebook.html"
    path.write_text(text, encoding="utf-8")
    opened = open_map(path, ready="iframe")
    assert opened.page.locator("iframe").count() == len(MAPS)
    assert opened.page.locator("div.dpheatmap-output > img").count() >= len(MAPS) - 1  # shown until a map is seen
    for number, title in enumerate(["Where people are", "Where people are", "What changed"]):
        frame = opened.page.frame_locator(f"iframe >> nth={number}")
        opened.page.locator(f"iframe >> nth={number}").scroll_into_view_if_needed()
        frame.locator("#dpheatmap[data-ready]").wait_for()
        assert frame.locator("h1").inner_text() == title
        frame.locator(".badge").click()
        expect(frame.get_by_role("dialog")).to_be_visible()
    expect(opened.page.locator("div.dpheatmap-output > img")).to_have_count(0)
