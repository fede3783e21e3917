"""Words that a Parquet file carries beside its columns."""

from __future__ import annotations

from pathlib import Path

from dpheatmap._util.extras import import_extra


def add_metadata(path: Path, **texts: str) -> None:
    """Write a file again with texts in its metadata; what it told already stays."""
    import_extra("pyarrow", "geo", "A GeoParquet file")
    from pyarrow import parquet

    table = parquet.read_table(path)
    about = {**(table.schema.metadata or {}), **{name.encode(): text.encode() for name, text in texts.items()}}
    parquet.write_table(table.replace_schema_metadata(about), path, compression="zstd")
