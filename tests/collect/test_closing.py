"""The end of a collection: by its time or its operator, once, whatever arrives meanwhile and whatever clocks do."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpheatmap.collect import receiver
from dpheatmap.collect.network import UnreachableError
from helpers.collecting import CORNER, Cast, also_local, cast, local_terms, refusal_of, terms_of


@also_local
def test_time_closes_a_collection(model: str, tmp_path: Path) -> None:
    stage = Cast(tmp_path, local_terms() if model == "local" else terms_of(model), seconds=-1)
    status, sentence = refusal_of(stage.role(0), stage.client(0).contribution(*CORNER)[0])
    assert status == 410
    assert f"its time was {stage.collection.closes.isoformat()}" in sentence, "so that a wrong clock shows"
    stage.steps()
    assert stage.role(0).phase() == "refused"


def test_closing_reaches_those_that_are_up_and_names_the_others(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers")
    stage.stop(0)
    with pytest.raises(UnreachableError, match=r"https://127\.0\.0\.1:8000 could not be told"):
        stage.close()
    assert stage.role(1).closed()
    stage.start(0)
    assert not stage.role(0).closed()
    stage.close()
    assert stage.role(0).closed()


@also_local
def test_what_arrives_while_it_closes_is_refused(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is closed after the first look at the clock, and what was there is mixed, summed or counted, and deleted."""
    stage = cast(tmp_path, model)
    stage.crowd(3)
    role, late = stage.role(0), stage.client(3).contribution(*CORNER)[0]
    opened = role._open

    def slowly(*parts: bytes) -> Any:
        content = opened(*parts)
        stage.end()
        return content

    monkeypatch.setattr(role, "_open", slowly)
    assert refusal_of(role, late)[0] == 410
    assert role.phase() == "published"
    assert role.state.count_contributions() == 0, "or it would stay there for good"


@also_local
def test_a_clock_that_is_set_back_opens_nothing_again(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while others are waited for, and after a restart: lists, batches and tallies are made once."""
    stage = cast(tmp_path, model)
    stage.crowd(3)
    for other in range(1, len(stage.keys)):
        stage.stop(other)

    late = stage.collection.closes + timedelta(seconds=1)
    with monkeypatch.context() as patch:
        patch.setattr(receiver, "datetime", SimpleNamespace(now=lambda zone: late))
        stage.steps()
    for _ in range(2):
        there = stage.role(0).state.count_contributions()
        assert refusal_of(stage.role(0), stage.client(3).contribution(*CORNER)[0])[0] == 410
        assert stage.role(0).state.count_contributions() == there
        stage.start(0)
