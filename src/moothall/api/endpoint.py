"""Declaring endpoints: one decorator declares all properties of an endpoint and adds it to the registry.

    @put("/guilds/{guild_id}/bans/{user_id}", permission=Permissions.BAN_MEMBERS, audit_reason=True,
         fires=(GuildMemberRemove, GuildBanAdd))
    async def create_guild_ban(ctx: Context, guild_id: GuildId, user_id: UserId, body: CreateGuildBan) -> None:

The signature declares the request and the response: positional parameters are those of the path, keyword-only ones
those of the query, or the only one is a `query` whose fields they are; `body` is the JSON body, and the return type is
the response; None means 204. The pipeline enforces what a decorator declares, and the OpenAPI document publishes it.
"""

import inspect
import re
import types
import typing
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from msgspec import Struct, UnsetType

from moothall.api.access import Access, as_access
from moothall.api.events import Event
from moothall.api.hooks import AnyHook, declared_events
from moothall.api.ratelimit import DEFAULT_RATE, Rate, bucket_name
from moothall.api.request.body import BodyReader, body_reader
from moothall.api.request.form_fields import FormOrJson
from moothall.api.request.images import image_fields
from moothall.api.request.json_size import MAX_JSON
from moothall.api.request.parameters import (
    HeaderParameter,
    PathParameter,
    QueryParameter,
    QueryReader,
    header_parameter,
    path_parameter,
    query_parameter,
    struct_parameters,
)
from moothall.api.request.uploads import NoFiles, Uploads
from moothall.api.request.url_encoded import UrlEncoded, UrlEncodedReader

T = TypeVar("T")
Handler = Callable[..., Awaitable[Any]]
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Json(Generic[T]):
    """A response that is already encoded: `data` is the JSON of a T.

    One that `names_files` may have placeholders for their URLs, as messages have.
    """

    __slots__ = ("data", "headers", "names_files")

    def __init__(self, data: bytes, headers: tuple[tuple[bytes, bytes], ...] = (), *, names_files: bool = True) -> None:
        self.data = data
        self.headers = headers
        self.names_files = names_files


class NotReady:
    """In a return type: the endpoint may respond with 202 and `retry_after` while its result is not available."""


class Response(Struct, frozen=True):
    """A response that is not JSON, or whose status the handler chooses."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Signature(Struct, frozen=True):
    """What the signature of a handler declares: the request and the response."""

    path_parameters: tuple[PathParameter, ...]
    query_parameters: tuple[QueryParameter, ...]
    query: QueryReader
    header_parameters: tuple[HeaderParameter, ...]
    body: BodyReader | None
    images: tuple[str, ...]
    """The fields of the body that are images."""
    body_bytes_max: int
    """Bytes of a body: those of any, and of the images that its type declares."""
    response: object
    """The type of the response."""


class Endpoint:
    """An endpoint of the API, as declared.

    What its signature and hooks declare is read at the first use: to read all takes a twentieth of the start.
    """

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
        forms: bool = False,
    ) -> None:
        self.method = method
        self.path = path
        self.handler = handler
        self.name = handler.__name__
        self.summary = inspect.getdoc(handler) or ""
        if not self.summary:
            raise TypeError(f"{self.name}: an endpoint needs a docstring, which is published")
        self.access = access
        self.audit_reason = audit_reason
        self._declared = tuple(fires)
        self._forms = forms
        self._status = status
        self._uploads = uploads
        self.scope = scope
        self.rate = rate
        self.bucket = bucket_name(method, path)
        self.writes = writes
        self.reads_first = reads_first
        """Whether the handler runs on a reader first, and again in a transaction if it needs to write."""

    @cached_property
    def signature(self) -> Signature:
        """What the handler's signature declares. Raises TypeError if its parameters are not those of the path."""
        return _read_signature(self.handler, self.path, forms=self._forms)

    @cached_property
    def fires(self) -> frozenset[type[Event]]:
        """The events that the endpoint may fire, those of the hooks that it declares included."""
        return declared_events(self._declared)

    @cached_property
    def locks_guild(self) -> bool:
        """Whether the endpoint's transaction takes the lock of a guild."""
        return self.writes and ("{guild_id}" in self.path or any(event.changes_guild for event in self.fires))

    @cached_property
    def status(self) -> int:
        """The status of a success."""
        if self._status is not None:
            return self._status
        return 204 if self.signature.response is type(None) else 200

    @cached_property
    def uploads(self) -> Uploads | None:
        """The files that the endpoint accepts, in a form with its body; None if it accepts none."""
        body = self.signature.body
        return NoFiles() if self._uploads is None and body is not None and body.forms else self._uploads


def _read_signature(handler: Handler, path: str, *, forms: bool) -> Signature:
    hints = typing.get_type_hints(handler, include_extras=True)
    body: BodyReader | None = None
    of_path: list[PathParameter] = []
    of_query: list[QueryParameter] = []
    query: type[Struct] | None = None
    headers: list[HeaderParameter] = []
    for parameter in list(inspect.signature(handler).parameters.values())[1:]:
        kind = hints[parameter.name]
        if parameter.name == "body":
            body = reader_of(kind, optional=_may_be_absent(kind), forms=forms)
        elif (header := header_parameter(parameter.name, kind)) is not None:
            headers.append(header)
        elif parameter.name == "query" and isinstance(kind, type) and issubclass(kind, Struct):
            query, of_query = kind, struct_parameters(kind)
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            of_query.append(query_parameter(parameter.name, kind, parameter.default))
        else:
            of_path.append(path_parameter(parameter.name, kind))
    named, declared = _PLACEHOLDER.findall(path), [parameter.name for parameter in of_path]
    if declared != named:
        raise TypeError(f"{handler.__name__}: the path has {named}, the signature {declared}")
    images = {} if body is None else image_fields(body.kind)
    return Signature(
        path_parameters=tuple(of_path),
        query_parameters=tuple(of_query),
        query=QueryReader(tuple(of_query), query),
        header_parameters=tuple(headers),
        body=body,
        images=tuple(images),
        body_bytes_max=MAX_JSON + sum(images.values()),
        response=hints["return"],
    )


def reader_of(kind: object, *, optional: bool, forms: bool) -> BodyReader:
    """Make the reader for the annotated type of a handler's `body`."""
    if isinstance(kind, type) and issubclass(kind, UrlEncoded):
        return UrlEncodedReader(kind, optional, checks=False)
    if isinstance(kind, type) and issubclass(kind, FormOrJson):
        return body_reader(kind, optional=False, forms=True)
    return body_reader(kind, optional=optional, forms=forms)


def _may_be_absent(kind: object) -> bool:
    """Whether a missing body counts as an empty object, because no field is required."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        required = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
        return required == 0
    return type(None) in typing.get_args(kind) or UnsetType in typing.get_args(kind)


REGISTRY: dict[tuple[str, str], Endpoint] = {}
"""All endpoints of imported modules, by method and path template."""


def endpoints() -> Iterable[Endpoint]:
    """All registered endpoints."""
    return REGISTRY.values()


def _row(method: str, path: str, **declared: Any) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        if (method, path) in REGISTRY:
            raise TypeError(f"{method} {path} is declared twice")
        if not isinstance(handler, types.FunctionType):
            raise TypeError("a handler is a function")
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
        forms: bool = False,
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
            forms=forms,
        )

    verb.__name__ = method.lower()
    verb.__doc__ = f"Declare a {method} endpoint. `permission` is required."
    return verb


get = _verb("GET", writes=False)
post = _verb("POST", writes=True)
put = _verb("PUT", writes=True)
patch = _verb("PATCH", writes=True)
delete = _verb("DELETE", writes=True)
