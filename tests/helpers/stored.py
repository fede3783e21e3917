"""Release files taken apart and put together again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[dict[str, Any]]


def metadata_of(path: Path) -> dict[str, Any]:
    """What a release file says of itself."""
    stored: dict[str, Any] = json.loads(pq.read_schema(path).metadata[b"dpheatmap"])
    return stored


def write_again(path: Path, table: pa.Table, metadata: Any) -> None:
    """A file with these rows and this metadata, an object or any text."""
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    pq.write_table(table.replace_schema_metadata({"dpheatmap": text}), path)
