"""The parts of the app that endpoints use, started and ended together."""

from __future__ import annotations

from pathlib import Path

from dpheatmap._util.worker import Worker
from dpheatmap.app.app_settings import Settings
from dpheatmap.app.jobs import Jobs, recover
from dpheatmap.app.map_drawing import Drawing
from dpheatmap.app.release_shelf import Shelf
from dpheatmap.app.session import Session
from dpheatmap.app.texts import say
from dpheatmap.app.uploads import Uploads


class Parts:
    """The parts of the app for a folder and a ledger."""

    def __init__(self, session: Session, folder: Path, ledger: str, limit: int) -> None:
        self.session = session
        self.ledger = ledger
        self.uploads = Uploads(folder / "uploads", limit)
        self.shelf = Shelf(folder)
        self.settings = Settings(folder)
        self.notices = recover(self.shelf, ledger)
        self.worker = Worker(say("drawing_ended"))
        self.drawing = Drawing(self.shelf, self.worker)
        self.jobs = Jobs(self.shelf, ledger, self.drawing.draw_first)

    def close(self) -> None:
        """Finish releases that were charged, and remove uploads and deleted releases."""
        self.worker.close()
        self.jobs.close()
        self.uploads.clear()
        self.shelf.empty_trash()
