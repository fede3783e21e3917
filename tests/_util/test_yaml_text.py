"""YAML that is written is read back by another reader, whatever the texts are."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap._util.yaml_text import yaml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.from_regex("[a-z_]{1,8}", fullmatch=True).filter(
    lambda name: name not in ("y", "n", "yes", "no", "on", "off")
)
LISTS = st.lists(TEXTS, min_size=1)
TREES = st.recursive(
    st.dictionaries(NAMES, TEXTS | NUMBERS | LISTS, min_size=1),
    lambda below: st.dictionaries(NAMES, below | TEXTS, min_size=1),
    max_leaves=8,
)


@given(TREES)
def test_what_is_written_is_read_back(values: dict[str, object]) -> None:
    assert yaml.safe_load(yaml_text(values, {})) == values  # type: ignore[arg-type]


def test_comments_stand_behind_what_they_are_about_and_are_not_read() -> None:
    text = yaml_text({"a": {"day": "1", "open": None, "many": ["x"]}}, {"a.day": "when", "a.open": "#1", "day": "no"})
    assert text.splitlines() == ["a:", '  day: "1" # when', "  # open: # #1", "  many:", '    - "x"']
    assert yaml.safe_load(text) == {"a": {"day": "1", "many": ["x"]}}


def test_only_quotes_that_the_registry_allows_are_used() -> None:
    """It refuses folded texts."""
    tokens = yaml.scan(yaml_text({"a": "one\ntwo > three", "b": 1e-7}, {}))
    assert {getattr(token, "style", None) for token in tokens} == {None, '"'}
