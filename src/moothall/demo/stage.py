"""Requests of several people, one after another, inside one transaction: all of them happen, or none."""

from typing import Any

import msgspec
from msgspec import UNSET

from moothall.kernel.authenticate import authenticate
from moothall.kernel.committing import freshen_guilds
from moothall.kernel.context import Context
from moothall.kernel.endpoint import Endpoint, Json, Response, endpoints
from moothall.kernel.parameters import read_query
from moothall.kernel.router import Router
from moothall.objects.wire import encode


class Stage:
    """Runs rows as the pipeline does, but in the transaction of a Context: the same access, decoding and rules.

    Rows that open transactions of their own (registering, jobs) cannot be asked for.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._router = Router(endpoints())

    async def request(self, authorization: str, method: str, path: str, body: Any = UNSET, *, query: str = "") -> Any:
        """Make one request; the answer's JSON, None for an empty one. Raises Refusal as the row does."""
        row, values = self._match(method, path)
        context = Context(
            self._ctx.services,
            self._ctx.tx,
            await authenticate(self._ctx.tx, authorization or None),
            reason=None,
            fires=row.fires,
            writes=True,
        )
        given = {p.name: p.read(text) for p, text in zip(row.path_parameters, values, strict=True)}
        await row.access.check(context, given)
        named: dict[str, Any] = read_query(row.query_parameters, query.encode()) if row.query_parameters else {}
        if row.body is not None:
            named["body"] = row.body.from_plain(body) if body is not UNSET else row.body.read(b"", "application/json")
        result = await row.handler(context, *given.values(), **named)
        # The next request is to see what this one changed, not what the guild's last version held.
        await freshen_guilds(context)
        self._ctx.events.extend(context.events)
        self._ctx.after_commit.extend(context.after_commit)
        return _parsed(result)

    def _match(self, method: str, path: str) -> tuple[Endpoint, list[str]]:
        found = self._router.match(path)
        if found is None or method not in found[0]:
            raise LookupError(f"there is no row {method} {path}")
        return found[0][method], found[1]


def _parsed(result: Any) -> Any:
    if result is None:
        return None
    if isinstance(result, Json):
        return msgspec.json.decode(result.data)
    if isinstance(result, Response):
        return msgspec.json.decode(result.body) if result.content_type == "application/json" else None
    return msgspec.json.decode(encode(result))
