"""DuckDB as it is used here, in a notebook without ipywidgets: there it refuses to be told to show no bar."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NOTEBOOK = """
import sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

sys.modules["ipywidgets"] = None
InteractiveShell.instance().config.IPKernelApp.name = "a kernel, by which DuckDB knows a notebook"

import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.InvalidInputException:
    print("refused")
from dpheatmap.experiments.public_files import columns_of
print(columns_of(Path(sys.argv[1]), "SELECT a FROM read_csv(?)", "")["a"].tolist())
"""


def test_files_are_read_in_a_notebook_without_widgets(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    command = [sys.executable, "-c", NOTEBOOK, str(tmp_path / "table.csv")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["refused", "[1, 3]"], done.stderr
