"""The app in headless Chromium: how soon something is seen, how soon a stored map can be used, what uploads take."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from common import bar
from dpheatmap import Ledger

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.browser import launch
from helpers.served import Served, serving, trips, wanted
from helpers.visits import visiting

REPEATS = 5
ASKING = """
  const key = { "X-Dpheatmap-Key": localStorage.getItem("dpheatmap-key") };
  const ask = async (path, method = "GET", body = undefined, headers = {}) => {
    const answer = await fetch(path, { method, body, headers: { ...key, ...headers } });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
"""
RELEASE = f"""async body => {{ {ASKING}
  const json = {{ "Content-Type": "application/json" }};
  const {{ id }} = await ask("/api/releases", "POST", JSON.stringify(body), json);
  while ((await ask(`/api/releases/${{id}}`)).state !== "done") await new Promise(next => setTimeout(next, 200));
  return id;
}}"""
UPLOAD = f"size => {{ {ASKING} return ask('/api/uploads?name=a.csv', 'PUT', new Blob([new Uint8Array(size)])); }}"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"


def seen_and_usable(page: Page, address: str) -> tuple[float, float]:
    """Seconds from asking for a stored map to the first paint, and to a map that can be used."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".map-frame[data-ready=first]")
    return float(page.evaluate(PAINTED)), float(page.evaluate("performance.now() / 1000"))


def uploaded(served: Served, page: Page, megabytes: int) -> float:
    """Megabytes of memory that the server takes for an upload."""
    before = served.memory()
    page.evaluate(UPLOAD, megabytes * 10**6)
    return (served.memory() - before) / 1e6


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        ledger = str(folder / "ledger")
        Ledger(ledger).limit("riders", 5)
        table = trips(folder / "trips.parquet", 5000)
        browser = launch(playwright)
        with (
            serving(folder / "kept", ledger) as served,
            visiting(browser, served, width=1400, height=900, scheme="light") as visit,
        ):
            id = visit.page.evaluate(RELEASE, wanted({"path": str(table)}, "riders"))
            times = [seen_and_usable(visit.page, f"{served.origin}/#map/{id}") for _ in range(REPEATS)]
            memory = uploaded(served, visit.page, 100)
        browser.close()
    results = [
        bar("first paint", min(seen for seen, _ in times), 1.0, unit=" s"),
        bar("a stored map of 5,000 people can be used", min(usable for _, usable in times), 3.0, unit=" s"),
        bar("memory of the server for an upload of 100 MB", memory, 50.0, unit=" MB"),
    ]
    print(f"      the slowest of {REPEATS}: {max(t for t, _ in times):.2f} s and {max(t for _, t in times):.2f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
