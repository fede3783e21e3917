"""Counts to measurements: exact where the noise is taken away, lazy where the paper is not, and refused in time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import measure_counts, noise_of_shares
from dpheatmap.curator.core.noise import DiscreteLaplace
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import SHARES, UNITS, part, split_over_levels
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode, encode
from dpheatmap.releases.measurements import Measurements
from dpheatmap.testing import SeededSource, seeded_release
from helpers.designs import paper_design
from helpers.tables import COUNTERS, Columns, as_csv, as_json, outcome, people

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

DOMAINS = {
    "unit": Domain.unit(5),
    "one cell": Domain.unit(0),
    "image": Domain.image(25, 11),
    "line": Domain.image(1, 40),
    "coarse image": Domain.image(1000, 300, depth=5),
    "city": Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=13),
    "round the origin": Domain.bbox(-0.3, -0.2, 0.1, 0.4, depth=13),
}
by_name = pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
by_design = pytest.mark.parametrize("design", ["ladder", "adaptive", "paper", "dense"])


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Noise of zero, and the numbers of samples asked for."""
    asked: list[int] = []

    def exact(self: DiscreteLaplace, size: int, source: object = None) -> Ints:
        asked.append(size)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(DiscreteLaplace, "exact", exact)
    return asked


def random_counts(domain: Domain, seed: int, occupied: int = 60) -> Counts:
    rng = np.random.default_rng(seed)
    r = domain.cells(domain.depth)
    cells = np.unique(np.stack([rng.integers(r.x0, r.x1, occupied), rng.integers(r.y0, r.y1, occupied)]), axis=1)
    return Counts.from_cells(domain, cells[0], cells[1], rng.integers(1, 5 * UNITS, len(cells[0])))


def level_by_level(m: Measurements) -> dict[int, dict[int, int]]:
    levels = np.unique(m.levels).tolist()
    return {level: dict(zip(*(a.tolist() for a in m.at(level)), strict=True)) for level in levels}


# What is measured


@by_name
@by_design
def test_without_noise_measurements_are_the_counts(domain: Domain, design: str, silent: list[int]) -> None:
    counts = random_counts(domain, 1)
    release = dph.release(counts, epsilon=1, design=design, width=7)
    x, y = decode(counts.codes)
    weight = np.diff(counts.sums)
    for level, cells in level_by_level(release.measurements).items():
        shift = domain.depth - level
        true: dict[int, int] = {}
        for code, w in zip(encode(x >> shift, y >> shift).tolist(), weight.tolist(), strict=True):
            true[code] = true.get(code, 0) + w
        assert cells == {code: true.get(code, 0) for code in cells}
    if design == "ladder":  # its looks have noise, too: 17 draws a cell at most, of which at least one is published
        assert len(release.measurements) <= sum(silent) <= 17 * len(release.measurements)
    else:
        assert sum(silent) == len(release.measurements), "noise is drawn for what is measured and for nothing else"


@by_name
def test_the_first_level_is_measured_whole_and_then_the_children_of_the_largest(
    domain: Domain, silent: list[int]
) -> None:
    release = dph.release(random_counts(domain, 2), epsilon=1, design="paper", width=3)
    tree = level_by_level(release.measurements)
    first = domain.first_level(3)
    assert list(tree) == list(range(first, domain.depth + 1))
    assert list(tree[first]) == domain.codes(first).tolist()
    for level in range(first, domain.depth):
        ranked = sorted(tree[level], key=lambda code: (-tree[level][code], code))
        kept = ranked if level == first else ranked[:3]
        children = encode(*decode(np.array([4 * code + k for code in kept for k in range(4)])))
        expected = children[domain.meets(level + 1, *decode(children))]
        assert sorted(tree[level + 1]) == sorted(expected.tolist())


class NoisyCounts(Counts):
    """Counts whose cells carry a noise of their own, fixed by level and code: Algorithm 1's noise on every cell."""

    def exact(self, level: int, codes: Ints) -> Ints:
        return super().exact(level, codes) + cell_noise(level, codes)


def cell_noise(level: int, codes: Ints) -> Ints:
    mixed = (codes * 2654435761 + level * 97531 + 12345) % 1000003
    noise: Ints = (mixed - 500001) * (UNITS // 60000)
    return noise


@by_name
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), width=st.integers(1, 30))
def test_lazy_noise_is_full_noise_and_then_selection(domain: Domain, silent: list[int], seed: int, width: int) -> None:
    """Algorithm 1 as printed, on all cells of all levels, then the sets T_i and S_i of Algorithm 2."""
    plain = random_counts(domain, seed)
    noisy = NoisyCounts(domain, plain.codes, plain.sums)
    lazily = level_by_level(dph.release(noisy, epsilon=1, design="paper", width=width).measurements)

    first = domain.first_level(width)
    full = {
        level: dict(zip(cells.tolist(), (plain.at(level, cells) + cell_noise(level, cells)).tolist(), strict=True))
        for level in range(first, domain.depth + 1)
        for cells in [domain.codes(level)]
    }
    kept = set(full[first])
    assert lazily[first] == full[first]
    for level in range(first + 1, domain.depth + 1):
        reached = {code: value for code, value in full[level].items() if code >> 2 in kept}
        assert lazily[level] == reached
        kept = set(sorted(reached, key=lambda code: (-reached[code], code))[:width])


@by_name
def test_each_measurement_has_its_levels_share(domain: Domain) -> None:
    decay = Fraction(9, 10)
    release = dph.release(random_counts(domain, 3), epsilon="1/3", design="paper", width=5, decay=decay)
    shares = split_over_levels(domain.first_level(5), domain.depth, decay)
    m = release.measurements
    assert release.design == PaperDesign(shares, 5, decay)
    assert m.shares.tolist() == [shares[level] for level in m.levels.tolist()]
    assert sum(part(release.epsilon, share) for share in shares.values()) == Fraction(1, 3)
    order = list(zip(m.levels.tolist(), m.codes.tolist(), strict=True))
    assert order == sorted(set(order))


@by_name
def test_the_noise_of_a_level_has_the_rate_of_its_part(domain: Domain) -> None:
    shares = split_over_levels(domain.first_level(20), domain.depth)
    laws = noise_of_shares(PureLoss(Fraction(2, 7)), tuple(shares.values()))
    assert {share: law.rate for share, law in laws.items()} == {
        share: Fraction(2, 7) * share / SHARES / UNITS for share in shares.values()
    }
    assert sum(laws[share].rate * UNITS for share in shares.values()) == Fraction(2, 7)


@by_design
def test_the_noise_is_as_large_as_it_should_be(design: str) -> None:
    """4096 cells without people: the mean magnitude is W / eps_i within a tenth, which is six standard deviations.

    The ladder's are those of its last level, which is not looked at: what is published after a look depends on it.
    """
    domain = Domain.unit(7)
    nobody = np.zeros(0, dtype=np.int64)
    empty = Counts.from_cells(domain, nobody, nobody, nobody)
    release = dph.release(empty, epsilon=2, design=design, first_level=6, depth=6 if design == "ladder" else None)
    m = release.measurements
    share = m.shares[m.levels == 6][0]
    counts = m.counts[(m.levels == 6) & (m.shares == share)]
    scale = UNITS / float(part(release.epsilon, int(share)))
    assert len(counts) == 4096
    assert np.abs(counts).mean() == pytest.approx(scale, rel=0.1)
    assert abs(counts.mean()) < 0.15 * scale
    assert len(np.unique(counts)) > 4000, "noise is never repeated"


def test_noise_is_fresh_for_every_release_and_repeats_with_a_seed() -> None:
    counts = random_counts(Domain.unit(5), 1)
    for design, level in (("paper", 2), ("adaptive", 0), ("ladder", 0)):
        one, two = (dph.release(counts, epsilon=1, design=design).measurements.at(level)[1] for _ in "ab")
        assert np.all(one != two)
    a, b = (seeded_release(counts, seed=3, epsilon=1).measurements for _ in "ab")
    assert np.array_equal(a.counts, b.counts)
    assert not dph.release(counts, epsilon=1).seeded
    assert seeded_release(counts, seed=3, epsilon=1).seeded


def test_depth_28_costs_what_depth_8_costs() -> None:
    deep = Domain.bbox(-180, -85, 180, 85, depth=28)
    counts = random_counts(deep, 4, occupied=100_000)
    release = dph.release(counts, epsilon=10, design="paper")
    assert len(release.measurements) <= 16 + 64 + 25 * 80
    assert release.measurements.levels.max() == 28


@pytest.mark.parametrize("first", [0, 1, 3, 5])
def test_the_first_level_can_be_chosen(first: int, silent: list[int]) -> None:
    domain = DOMAINS["image"]
    release = dph.release(random_counts(domain, 5), epsilon=1, design="paper", width=4, first_level=first)
    tree = level_by_level(release.measurements)
    assert release.measured_levels == (first, 5)
    assert list(tree) == list(range(first, 6))
    assert list(tree[first]) == domain.codes(first).tolist()
    if first < 5:  # all cells of the first level are kept, however many they are
        assert list(tree[first + 1]) == domain.codes(first + 1).tolist()
    assert all(len(cells) <= 16 for level, cells in tree.items() if level > first + 1)


def test_numbers_of_any_kind_make_a_release_that_can_be_saved(tmp_path: Any) -> None:
    counts = random_counts(Domain.unit(5), 1)
    options: dict[str, Any] = {"width": np.int64(9), "decay": np.float64(0.75), "first_level": np.int64(1)}
    release = dph.release(counts, epsilon=np.float64(0.5), design="paper", **options)
    release.save(tmp_path / "r.parquet")
    again = dph.load(tmp_path / "r.parquet")
    assert (again.epsilon, again.measured_levels) == (Fraction(1, 2), (1, 5))
    assert again.design == PaperDesign(split_over_levels(1, 5, 0.75), 9, Fraction(3, 4))
    assert dph.release(counts, epsilon=1, design="paper").design == paper_design(split_over_levels(2, 5), 20)
    assert dph.release(counts, epsilon=1).design == LadderDesign(2, 5)
    assert dph.release(counts, epsilon=1, first_level=1).design == LadderDesign(1, 5, total=Fraction(0))
    assert dph.release(counts, epsilon=1, design="adaptive").design == AdaptiveDesign(2, 5)


def test_a_source_is_asked_only_for_what_is_measured() -> None:
    asked = 0
    inner = SeededSource(1)

    def source(size: int) -> bytes:
        nonlocal asked
        asked += size
        return inner(size)

    domain = Domain.unit(10)
    shares = split_over_levels(2, 10)
    m = measure_counts(random_counts(domain, 1), PureLoss(Fraction(1)), paper_design(shares, 20), source)
    assert 0 < asked < 200 * len(m)


# Refused before anything is read

NOWHERE = "/nonexistent/people.csv"
COLUMNS = {"user": "u", "x": "x", "y": "y"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": "1e-12"}, "epsilon is too small"),
        ({"epsilon": 1, "decay": 0}, "decay must be"),
        ({"epsilon": 1, "design": "paper", "decay": 1e-9}, "decay leaves nothing"),
        ({"epsilon": 1, "width": 0}, "width must be"),
        ({"epsilon": 1, "design": "best"}, "design must be"),
        ({"epsilon": 1, "first_level": 29}, "first_level must be a whole number"),
        ({"epsilon": 1, "first_level": 21}, "first_level must be at most the last level, 20"),
        ({"epsilon": 1, "first_level": 12}, "first_level must have at most 4194304 cells"),
        (
            {"epsilon": 1, "design": "dense", "first_level": 10},
            "first_level must have at most 65536 cells in the design",
        ),
        ({"epsilon": 1, "users": 100}, "users is for the design 'dense'"),
        ({"epsilon": 1, "design": "paper", "users": 100}, "users is for the design 'dense'"),
        ({"epsilon": 1, "memory": 1}, "memory must be"),
        ({"epsilon": 1, "where": 3}, "where must be"),
        ({"epsilon": 1, "x": None}, "x must name a column"),
    ],
)
def test_refused_before_the_table_is_opened(options: dict[str, Any], words: str) -> None:
    domain = Domain.unit(20)
    with pytest.raises(ParameterError, match=words):
        dph.release(NOWHERE, domain, **{**COLUMNS, **options})
    with pytest.raises(DataError, match="No file is called"):
        dph.release(NOWHERE, domain, epsilon=1, **COLUMNS)  # type: ignore[call-overload]


def test_first_level_12_is_too_many_cells_and_11_is_not() -> None:
    assert Domain.unit(20).cells(11).count == 4**11 <= 2**22 < 4**12


# Little or nothing to read

FEW: dict[str, Columns] = {
    "no rows": {"user": [], "x": [], "y": []},
    "one person": {"user": ["a"], "x": [0.5], "y": [0.5]},
    "nobody inside": {"user": ["a", "b"], "x": [7.0, 8.0], "y": [7.0, 8.0]},
    "no valid row": {"user": ["a", None], "x": [None, 0.5], "y": [0.5, 0.5]},
    "nobody known": {"user": [None, None], "x": [0.5, 0.5], "y": [0.5, 0.5]},
}
SCHEMA = {"user": pa.string(), "x": pa.float64(), "y": pa.float64()}


def typed(columns: Columns) -> pa.Table:
    return pa.table({name: pa.array(values, SCHEMA[name]) for name, values in columns.items()})


TYPED: dict[str, Callable[[Columns, Path], Any]] = {
    "csv": lambda c, p: as_csv(c, p / "t.csv"),
    "csv.gz": lambda c, p: as_csv(c, p / "t.csv.gz"),
    "json lines": lambda c, p: as_json(c, p / "t.jsonl"),
    "json": lambda c, p: as_json(c, p / "t.json"),
    "parquet": lambda c, p: pq.write_table(typed(c), p / "t.parquet") or p / "t.parquet",
    "pandas": lambda c, p: typed(c).to_pandas(),
    "pandas arrow": lambda c, p: typed(c).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda c, p: pl.from_arrow(typed(c)),
    "arrow": lambda c, p: typed(c),
    "relation": lambda c, p: duckdb.connect().from_arrow(typed(c)),
}


@pytest.mark.parametrize("kind", TYPED)
def test_few_people_or_none_are_released_like_many(kind: str, tmp_path: Path) -> None:
    """Refusing would be an answer: each of these tables is a neighbour of one that is released."""
    seen = set()
    for name, columns in FEW.items():
        events = TYPED[kind](columns, tmp_path)
        counts = dph.aggregate(events, Domain.unit(3), user="user", x="x", y="y")
        alone = name == "one person"
        assert counts.at(3, np.array([48, 0])).tolist() == [UNITS * alone, 0]  # 48 is cell (4, 4)
        assert counts.sums[-1] == UNITS * alone
        for design in ("dense", "paper", "adaptive", "ladder"):
            release = dph.release(counts, epsilon=1, design=design)
            measured = release.measurements
            seen.add((release.domain, release.epsilon, str(release.design), str(dict(release.label))))
            if design in ("paper", "adaptive"):
                assert np.array_equal(np.unique(measured.at(2)[0]), np.arange(16))
            if design == "ladder":  # each of the 16 cells is closed, or its four children are measured
                assert sorted([*measured.at(2)[0], *(measured.at(3)[0][::4] >> 2)]) == list(range(16))
            if design == "paper":
                assert np.array_equal(measured.at(3)[0], np.arange(64))
    assert len(seen) == 4
    assert release.heatmap().values.sum() == pytest.approx(1)


@pytest.mark.parametrize("text", ["", "\n", "\ufeff\r\n", "  \n\n"])
def test_json_without_a_row_has_no_columns_to_miss(text: str, tmp_path: Path) -> None:
    for ending in ("json", "jsonl"):
        path = tmp_path / f"t.{ending}"
        path.write_text(text)
        options: dict[str, Any] = {"weight": "n", "where": "day >= '2024-01-01' AND user <> 'a'"}
        assert outcome(path, **options) == ({}, dict.fromkeys(COUNTERS, 0))
        assert outcome(path, user=None, each_row_is_a_person=True) == ({}, dict.fromkeys(COUNTERS, 0))
        # What depends on the question alone is refused as ever.
        with pytest.raises(PrivacyRefusal, match="No user column"):
            people(path, user=None)
        with pytest.raises(PrivacyRefusal, match="one row at a time"):
            people(path, where="x > (SELECT 1)")


def test_a_json_column_called_json_is_a_column(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"json": 1, "x": 0.1, "y": 0.1}\n')
    assert people(tmp_path / "t.jsonl", user="json") == 1


def test_line_ends_inside_quotes_break_their_lines_alone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'user,x,y\r\n"a\nb",0.1,0.1\r\n\r\n"a\r\nb",0.1,0.1\r\na,0.1,0.1\r\n\r\n')
    with pytest.raises(DataError, match="Values can't span lines"):
        people(tmp_path / "t.csv")
    assert people(tmp_path / "t.csv", bad_lines="skip") == 1


def test_what_stands_in_a_row_never_changes_how_the_header_is_read(tmp_path: Path) -> None:
    """Control characters and other dialects' delimiters in rows are just text."""
    rows = ["a\x1fb", "a;b;c;d;e", "a|b|c|d", "a\x1e", "\x00", "#a", "a\tb\tc\td"]
    (tmp_path / "t.csv").write_text("user,x,y\n" + "".join(f"{one},0.1,0.1\n" for one in rows))
    assert people(tmp_path / "t.csv") == len(rows)
