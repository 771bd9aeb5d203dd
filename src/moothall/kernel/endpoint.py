"""The row: one decorator says everything about an endpoint, and the registry holds every row.

    @put("/guilds/{guild_id}/bans/{user_id}", permission=Permissions.BAN_MEMBERS, audit_reason=True,
         fires=(GuildMemberRemove, GuildBanAdd))
    async def create_guild_ban(ctx: Context, guild_id: GuildId, user_id: UserId, body: CreateGuildBan) -> None:

The signature is the validator: positional parameters are the path's, keyword-only ones the
query's, `body` the JSON, the return type the response, and `-> None` is 204. What a decorator
declares is executed by the pipeline and published in the OpenAPI document.
"""

import inspect
import re
import types
import typing
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct, UnsetType

from moothall.kernel.access import Access, as_access
from moothall.kernel.body import BodyReader, body_reader
from moothall.kernel.events import Event
from moothall.kernel.form_or_json import FormOrJson, FormOrJsonReader
from moothall.kernel.hooks import AnyHook, declared_events
from moothall.kernel.images import image_fields
from moothall.kernel.parameters import (
    HeaderParameter,
    PathParameter,
    QueryParameter,
    header_parameter,
    path_parameter,
    query_parameter,
)
from moothall.kernel.ratelimit import DEFAULT_RATE, Rate
from moothall.kernel.uploads import Uploads
from moothall.kernel.url_encoded import UrlEncoded, UrlEncodedReader

T = TypeVar("T")
Handler = Callable[..., Awaitable[Any]]
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Json(Generic[T]):
    """A response that is already encoded: JSON bytes of a T."""

    __slots__ = ("data", "headers")

    def __init__(self, data: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        self.data = data
        self.headers = headers


class NotReady:
    """Among a row's answers: it may refuse with a status of 202 what it cannot answer yet, saying when to ask again."""


class Response(Struct, frozen=True):
    """A response that is not JSON, or whose status is decided by the handler."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Endpoint:
    """One row of the API, as declared."""

    __slots__ = (
        "_declared",
        "_fires",
        "_locks_guild",
        "access",
        "audit_reason",
        "body",
        "handler",
        "header_parameters",
        "images",
        "method",
        "name",
        "path",
        "path_parameters",
        "query_parameters",
        "rate",
        "reads_first",
        "response",
        "scope",
        "status",
        "summary",
        "uploads",
        "writes",
    )

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        *,
        access: Access,
        audit_reason: bool,
        fires: Sequence[type[Event] | AnyHook],
        status: int | None,
        scope: str | None,
        rate: Rate,
        writes: bool,
        reads_first: bool = False,
        uploads: Uploads | None = None,
    ) -> None:
        self.method = method
        self.path = path
        self.handler = handler
        self.name = handler.__name__
        self.summary = inspect.getdoc(handler) or ""
        if not self.summary:
            raise TypeError(f"{self.name}: an endpoint has a docstring, it is published")
        self.access = access
        self.audit_reason = audit_reason
        self._declared = tuple(fires)
        self._fires: frozenset[type[Event]] | None = None
        self._locks_guild: bool | None = None
        self.scope = scope
        self.rate = rate
        self.writes = writes
        self.reads_first = reads_first
        """Whether the handler mostly has nothing to write: it is run on a reader until it needs a transaction."""
        self.uploads = uploads
        """What files the row takes, if any; its body may then come as a form."""
        self._read_signature(handler)
        self.status = status if status is not None else (204 if self.response is type(None) else 200)

    @property
    def fires(self) -> frozenset[type[Event]]:
        """The events that the row may fire, those of the hooks that it declares included."""
        if self._fires is None:
            self._fires = declared_events(self._declared)
        return self._fires

    @property
    def locks_guild(self) -> bool:
        """Whether the row's transaction takes the lock of a guild."""
        if self._locks_guild is None:
            changes = "{guild_id}" in self.path or any(event.stales_guild for event in self.fires)
            self._locks_guild = self.writes and changes
        return self._locks_guild

    def _read_signature(self, handler: Handler) -> None:
        hints = typing.get_type_hints(handler, include_extras=True)
        self.response: Any = hints["return"]
        self.body: BodyReader | None = None
        named = _PLACEHOLDER.findall(self.path)
        path: list[PathParameter] = []
        query: list[QueryParameter] = []
        headers: list[HeaderParameter] = []
        parameters = list(inspect.signature(handler).parameters.values())[1:]
        for parameter in parameters:
            kind = hints[parameter.name]
            if parameter.name == "body":
                self.body = reader_of(kind, optional=_may_be_absent(kind))
            elif (header := header_parameter(parameter.name, kind)) is not None:
                headers.append(header)
            elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                query.append(query_parameter(parameter.name, kind, parameter.default))
            else:
                path.append(path_parameter(parameter.name, kind))
        if [parameter.name for parameter in path] != named:
            raise TypeError(f"{self.name}: the path has {named}, the signature {[p.name for p in path]}")
        self.images = () if self.body is None else image_fields(self.body.kind)
        self.path_parameters = tuple(path)
        self.query_parameters = tuple(query)
        self.header_parameters = tuple(headers)


def reader_of(kind: Any, *, optional: bool) -> BodyReader:
    """The reader for the type that a handler's `body` is annotated with."""
    if isinstance(kind, type) and issubclass(kind, UrlEncoded):
        return UrlEncodedReader(kind, optional, checks=False)
    if isinstance(kind, type) and issubclass(kind, FormOrJson):
        return FormOrJsonReader(kind, optional=False, checks=callable(getattr(kind, "check", None)))
    return body_reader(kind, optional=optional)


def _may_be_absent(kind: Any) -> bool:
    """Whether a request without any body means an empty object: nothing in it is required."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        required = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
        return required == 0
    return type(None) in typing.get_args(kind) or UnsetType in typing.get_args(kind)


REGISTRY: dict[tuple[str, str], Endpoint] = {}
"""Every row that has been imported, by method and path template."""


def endpoints() -> Iterable[Endpoint]:
    """Every registered row."""
    return REGISTRY.values()


def _row(method: str, path: str, **declared: Any) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        if (method, path) in REGISTRY:
            raise TypeError(f"{method} {path} is declared twice")
        if not isinstance(handler, types.FunctionType):
            raise TypeError("a row is a function")
        REGISTRY[method, path] = Endpoint(method, path, handler, **declared)
        return handler

    return register


def _verb(method: str, *, writes: bool) -> Callable[..., Callable[[Handler], Handler]]:
    writes_by_default = writes

    def verb(
        path: str,
        *,
        permission: Access | int,
        audit_reason: bool = False,
        fires: Sequence[type[Event] | AnyHook] = (),
        status: int | None = None,
        scope: str | None = None,
        rate: Rate = DEFAULT_RATE,
        writes: bool = writes_by_default,
        reads_first: bool = False,
        uploads: Uploads | None = None,
    ) -> Callable[[Handler], Handler]:
        return _row(
            method,
            path,
            access=as_access(permission),
            audit_reason=audit_reason,
            fires=fires,
            status=status,
            scope=scope,
            rate=rate,
            writes=writes,
            reads_first=reads_first,
            uploads=uploads,
        )

    verb.__name__ = method.lower()
    verb.__doc__ = f"Declare a {method} row. `permission` has no default: say who may."
    return verb


get = _verb("GET", writes=False)
post = _verb("POST", writes=True)
put = _verb("PUT", writes=True)
patch = _verb("PATCH", writes=True)
delete = _verb("DELETE", writes=True)
