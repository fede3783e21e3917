"""Parsing of requests: JSON, forms and parameters."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from dpheatmap._util.parameters import check
from dpheatmap.app.release_request import body_of
from dpheatmap.app.texts import say
from dpheatmap.errors import ParameterError

MOST_SMALL = 64 * 1024


async def json_of(request: Request) -> Any:
    """The body of a request, which must be a small JSON object that can be stored and sent back as JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415)
    try:
        body = body_of(json.loads(await _small_body(request)))
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()  # no infinite numbers, no half characters
        return body
    except (ValueError, RecursionError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(say("not_an_object")) from None


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a small form."""
    return dict(parse_qsl((await _small_body(request)).decode("utf-8", "replace")))


async def _small_body(request: Request) -> bytes:
    """The body of a request, refused if it is large."""
    found = b""
    async for chunk in request.stream():
        found += chunk
        if len(found) > MOST_SMALL:
            raise HTTPException(413)
    return found


def sigma_of(request: Request) -> float | None:
    """The smoothing in the request, if there is one."""
    text = request.query_params.get("sigma")
    if text is None:
        return None
    try:
        sigma = float(text)
    except ValueError:
        raise ParameterError(say("missing", name="sigma")) from None
    check(sigma=sigma)
    return sigma
