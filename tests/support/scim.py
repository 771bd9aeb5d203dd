"""Identity providers that manage accounts by SCIM, and a WSGI front for clients of other projects."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

from moothall.objects.operator import OperatorPermission
from tests.support.harness import Caller, Platform, Reply
from tests.support.operators import make_operator, make_token

JSON = "application/scim+json"


class Scim:
    """The program of a provider, with its token."""

    def __init__(self, platform: Platform, operator: Caller, provider_id: str, token: str) -> None:
        self.platform = platform
        self.operator = operator
        self.provider_id = provider_id
        self.token = token
        self.caller = Caller(platform, operator.id, f"Bearer {token}")

    async def request(self, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a request below the base URL of the provider."""
        sent = {} if body is None else {"body": body}
        return await self.caller.request(method, f"/scim/v2/corp{path}", content_type=JSON, **sent, **options)

    async def user(self, user: str = "anna", **attributes: Any) -> dict[str, Any]:
        """Make a user."""
        body = {"userName": f"{user}@corp.example", "externalId": f"id-{user}", "displayName": user.title()}
        reply = await self.request("POST", "/Users", body | attributes)
        assert reply.status == 201, reply.body
        result: dict[str, Any] = reply.json
        return result

    async def group(self, name: str, *member_ids: str) -> dict[str, Any]:
        """Make a group."""
        members = [{"value": each} for each in member_ids]
        reply = await self.request("POST", "/Groups", {"displayName": name, "members": members})
        assert reply.status == 201, reply.body
        result: dict[str, Any] = reply.json
        return result

    async def patch(self, path: str, *operations: dict[str, Any], **options: Any) -> Reply:
        """Send operations."""
        return await self.request("PATCH", path, {"Operations": list(operations)}, **options)

    async def map_group(self, name: str, guild_id: int, role_id: int | None = None) -> None:
        """Let a group give a membership, and a role."""
        body = {"name": name, "guild_id": str(int(guild_id)), "role_id": None if role_id is None else str(int(role_id))}
        reply = await self.operator.post(f"/admin/v1/identity-providers/{self.provider_id}/groups", body)
        assert reply.status == 201, reply.body

    def wsgi(self, loop: asyncio.AbstractEventLoop) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
        """An application for a client in another thread."""

        def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            data = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            headers = [
                (name.removeprefix("HTTP_").replace("_", "-").lower(), value)
                for name, value in environ.items()
                if name.startswith("HTTP_") and value
            ]
            headers += [("content-type", environ.get("CONTENT_TYPE") or JSON), ("content-length", str(len(data)))]
            path = environ["PATH_INFO"].removeprefix("/api")
            query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
            work = self.platform.send(environ["REQUEST_METHOD"], path, data, headers, query, "127.0.0.1")
            reply = asyncio.run_coroutine_threadsafe(work, loop).result()
            start_response(f"{reply.status} Status", list(reply.headers.items()))
            return [reply.body]

        return application


async def scim_provider(platform: Platform, **fields: Any) -> Scim:
    """Set a provider up on a platform, whose program has a token."""
    operator = await make_operator(platform)
    body = {"name": "corp", "label": "Corp", "issuer": "https://login.corp.example", "client_id": "hall"}
    reply = await operator.post("/admin/v1/identity-providers", body | fields)
    assert reply.status == 201, reply.body
    program = await make_token(platform, operator, OperatorPermission.PROVISIONING)
    return Scim(platform, operator, reply.json["id"], program.token)
