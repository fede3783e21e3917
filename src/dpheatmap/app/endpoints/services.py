"""What answers are made from: the app's parts, started and ended together."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.app.jobs import Jobs, recover
from dpheatmap.app.map_drawing import Drawing
from dpheatmap.app.release_shelf import Shelf
from dpheatmap.app.session import Session
from dpheatmap.app.uploads import Uploads
from dpheatmap.app.worker import Worker


class Parts:
    """One of each, for a folder and a ledger."""

    def __init__(self, session: Session, folder: Path, ledger: str, limit: int) -> None:
        self.session = session
        self.ledger = ledger
        self.uploads = Uploads(folder / "uploads", limit)
        self.shelf = Shelf(folder)
        self.notices = recover(self.shelf, ledger)
        self.worker = Worker()
        self.drawing = Drawing(self.shelf, self.worker)
        self.jobs = Jobs(self.shelf, ledger, self.drawing.draw_first)

    def close(self) -> None:
        """Finish what was paid for, and remove uploads and what was deleted."""
        self.worker.close()
        self.jobs.close()
        self.uploads.clear()
        self.shelf.empty_trash()
