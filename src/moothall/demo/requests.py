"""Runs requests of several users inside one transaction, so that either all or none take effect."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from moothall.api.authenticate import authenticate
from moothall.api.committing import renew_guild_versions
from moothall.api.context import Context
from moothall.api.endpoint import Endpoint, Json, Response, endpoints
from moothall.api.request.parameters import read_query
from moothall.api.router import Router
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import encode


class RequestRunner:
    """Runs endpoints in the transaction of a Context, with the access checks and decoding of the pipeline.

    Endpoints that open transactions of their own cannot be used.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._router = Router(endpoints())

    async def request(self, authorization: str, method: str, path: str, body: Any = UNSET, *, query: str = "") -> Any:
        """Run one request and return the JSON of its response, or None. Raises Refusal as the endpoint does."""
        row, values = self._match(method, path)
        context = Context(
            self._ctx.services,
            self._ctx.tx,
            await authenticate(self._ctx.tx, authorization or None),
            reason=None,
            fires=row.fires,
            writes=True,
        )
        path_arguments = {p.name: p.read(text) for p, text in zip(row.signature.path_parameters, values, strict=True)}
        await row.access.check(context, path_arguments)
        keyword_arguments: JsonObject = (
            read_query(row.signature.query_parameters, query.encode()) if row.signature.query_parameters else {}
        )
        if row.signature.body is not None:
            keyword_arguments["body"] = (
                row.signature.body.from_plain(body)
                if body is not UNSET
                else row.signature.body.read(b"", "application/json")
            )
        result = await row.handler(context, *path_arguments.values(), **keyword_arguments)
        # The next request has to see the changes of this one.
        await renew_guild_versions(context)
        self._ctx.events.extend(context.events)
        self._ctx.after_commit.extend(context.after_commit)
        return _parsed(result)

    def _match(self, method: str, path: str) -> tuple[Endpoint, Sequence[str]]:
        match = self._router.match(path)
        if match is None or method not in match[0]:
            raise LookupError(f"there is no endpoint {method} {path}")
        return match[0][method], match[1]


def _parsed(result: object) -> object:
    if result is None:
        return None
    if isinstance(result, Json):
        return msgspec.json.decode(result.data)
    if isinstance(result, Response):
        return msgspec.json.decode(result.body) if result.content_type == "application/json" else None
    return msgspec.json.decode(encode(result))
