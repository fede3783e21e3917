"""Figures of comparisons: everything that they should show, and nothing on top of anything else."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dpheatmap.evaluate.chart import four_metrics, styles
from dpheatmap.evaluate.method_variants import TITLES
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Mean

PLACES = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


def series(methods: list[str], half: float = 0.05) -> Series:
    rng = np.random.default_rng(0)
    return {
        name: {at: {m.name: Mean(float(rng.random()), half, 60) for m in METRICS} for at in PLACES} for name in methods
    }


def drawn(methods: list[str], **options: Any) -> Any:
    figure = four_metrics(series(methods), axis="epsilon", title="All methods", logarithmic=True, **options)
    figure.canvas.draw()
    return figure


@pytest.mark.parametrize("count", [1, 6, len(METHODS)])
@pytest.mark.parametrize("warning", ["", "PRIVATE: compared with the true map of real people. Do not publish."])
def test_nothing_overlaps_and_nothing_is_cut_off(count: int, warning: str) -> None:
    figure = drawn(list(METHODS)[:count], warning=warning, notes=["A first note", "A second note"])
    parts = [axes.get_tightbbox() for axes in figure.axes]
    parts += [text.get_window_extent() for text in figure.texts]
    parts += [legend.get_window_extent() for legend in figure.legends]
    whole = figure.bbox
    assert len(figure.texts) == 3 + bool(warning)
    for one in parts:
        assert one.x0 >= whole.x0 - 1
        assert one.y0 >= whole.y0 - 1
        assert one.x1 <= whole.x1 + 1
        assert one.y1 <= whole.y1 + 1
    for one, other in combinations(parts, 2):
        assert one.x1 <= other.x0 + 1 or other.x1 <= one.x0 + 1 or one.y1 <= other.y0 + 1 or other.y1 <= one.y0 + 1


def test_four_panels_a_line_a_method_and_its_band() -> None:
    figure = drawn(["paper", "hb"])
    assert [axes.get_title().split("  ")[0] for axes in figure.axes] == [m.title for m in METRICS]
    for axes, metric in zip(figure.axes, METRICS, strict=True):
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert set(lines) == {METHODS["paper"].title, METHODS["hb"].title}
        wanted = [series(["paper", "hb"])["paper"][at][metric.name].mean for at in PLACES]
        assert lines[METHODS["paper"].title].get_ydata().tolist() == wanted
        band = axes.collections[0].get_paths()[0].vertices[:, 1]
        assert band.max() == pytest.approx(max(wanted) + 0.05)
        if metric.more_is_better:
            assert band.min() == pytest.approx(min(wanted) - 0.05)
        else:
            assert axes.get_yscale() == "log"
            assert band.min() > 0


def test_a_method_looks_the_same_in_every_figure_and_like_no_other() -> None:
    looks = styles()
    assert list(looks) == list(TITLES)
    assert len({(s.colour, s.marker, str(s.dashes)) for s in looks.values()}) == len(TITLES)


def test_one_run_has_no_band_to_show() -> None:
    figure = four_metrics(series(["paper"], np.inf), axis="epsilon", title="")
    band = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)
    assert band[:, 1].max() < 1.01
