"""An identity provider on the loopback interface that tells the truth, or the lies that a test wants."""

import base64
import hashlib
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.identity_provider.queries import ProviderRow, select_provider
from tests.pages.browser import Browser, Page
from tests.support.harness import Caller, Platform
from tests.support.operators import make_operator

CLIENT_ID = "hall"
CLIENT_SECRET = "a secret: of %the% client"
_KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]


class ProviderServer:
    """A provider of OpenID Connect; its attributes are what it says."""

    def __init__(self) -> None:
        self.url = ""
        self.person: dict[str, Any] = {"sub": "anna-1", "preferred_username": "Anna", "name": "Anna Arendt"}
        self.userinfo: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        """Claims of the id token in place of the true ones; None leaves one out."""
        self.metadata: dict[str, Any] = {}
        self.algorithm = "RS256"
        self.signing_key: Any = _KEYS[0]
        self.key_id = "k1"
        self.published: list[tuple[str, Any]] = [("k1", _KEYS[0])]
        self.down = False
        self.requests: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}

    def rotate(self) -> None:
        """Sign with another key from now on, and publish it alone."""
        self.signing_key, self.key_id, self.published = _KEYS[1], "k2", [("k2", _KEYS[1])]

    def authorize(self, url: str) -> str:
        """What the browser of the person is redirected to, who agrees."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def sign(self, claims: dict[str, Any], **headers: Any) -> str:
        """A token with these claims."""
        present = {name: value for name, value in claims.items() if value is not None}
        key = self.signing_key if self.algorithm != "none" else ""
        return jwt.encode(present, key, algorithm=self.algorithm, headers={"kid": self.key_id, **headers})

    def logout_token(self, **claims: Any) -> str:
        """A token that ends logins."""
        event: dict[str, Any] = {"http://schemas.openid.net/event/backchannel-logout": {}}
        now = int(Timestamp.now()) // 1000
        return self.sign(
            {
                "iss": self.url,
                "aud": CLIENT_ID,
                "iat": now,
                "exp": now + 60,
                "jti": secrets.token_hex(8),
                "events": event,
            }
            | claims
        )

    async def _discovery(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
                "backchannel_logout_supported": True,
            }
            | self.metadata
        )

    async def _authorize(self, request: web.Request) -> web.Response:
        raise web.HTTPFound(self.authorize(str(request.url)))

    async def _keys(self, _request: web.Request) -> web.Response:
        keys = [
            jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": name, "use": "sig"}
            for name, key in self.published
        ]
        return web.json_response({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "oct"}, {"kty": "?"}, *keys]})

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        pair = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        assert (unquote(client), unquote(secret)) == (CLIENT_ID, CLIENT_SECRET)
        requested = self.codes.pop(str(form["code"]), None)
        if requested is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == requested["code_challenge"]
        assert form["redirect_uri"] == requested["redirect_uri"]
        now = int(Timestamp.now()) // 1000
        claims = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": requested["nonce"]}
        token = self.sign(claims | self.person | self.claims)
        return web.json_response({"id_token": token, "access_token": "of the userinfo", "token_type": "Bearer"})

    async def _userinfo(self, request: web.Request) -> web.Response:
        assert request.headers["authorization"] == "Bearer of the userinfo"
        return web.json_response({"sub": self.person["sub"]} | self.userinfo)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["ProviderServer"]:
        """Serve for the block."""

        @web.middleware
        async def record(request: web.Request, handler: Any) -> web.StreamResponse:
            self.requests.append(request.path)
            if self.down:
                raise web.HTTPServiceUnavailable
            response: web.StreamResponse = await handler(request)
            return response

        application = web.Application(middlewares=[record])
        application.router.add_get("/.well-known/openid-configuration", self._discovery)
        application.router.add_get("/authorize", self._authorize)
        application.router.add_get("/keys", self._keys)
        application.router.add_post("/token", self._token)
        application.router.add_get("/userinfo", self._userinfo)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()


class SingleSignOn:
    """A platform with a provider, and the operator who has set it up."""

    def __init__(self, platform: Platform, server: ProviderServer, operator: Caller, provider_id: str) -> None:
        self.platform = platform
        self.server = server
        self.operator = operator
        self.provider_id = provider_id

    async def begin(self, browser: Browser, **query: Any) -> Page:
        """Press "Log in with": the redirect to the provider."""
        return await browser.visit("/login/with/corp", **query)

    async def log_in(self, browser: Browser, **query: Any) -> Page:
        """Log in, with a person who agrees."""
        sent = await self.begin(browser, **query)
        assert sent.status == 303, sent.text
        answer = urlsplit(self.server.authorize(sent.location))
        return await browser.visit(f"{answer.path}?{answer.query}")

    async def row(self) -> ProviderRow:
        """The row of the provider."""
        async with self.platform.database.read() as reader:
            row = await select_provider(reader, Snowflake(int(self.provider_id)))
        assert row is not None
        return row

    async def map_group(self, name: str, guild_id: int, role_id: int | None = None) -> str:
        """Let a group give a membership, and a role."""
        body = {"name": name, "guild_id": str(int(guild_id)), "role_id": None if role_id is None else str(int(role_id))}
        reply = await self.operator.post(f"/admin/v1/identity-providers/{self.provider_id}/groups", body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    async def change(self, **fields: Any) -> None:
        """Change the provider."""
        reply = await self.operator.patch(f"/admin/v1/identity-providers/{self.provider_id}", fields)
        assert reply.status == 200, reply.body

    async def me(self, browser: Browser) -> dict[str, Any]:
        """The account that a browser is logged in to."""
        caller = Caller(self.platform, Snowflake(0), session_of(browser))
        reply = await caller.get("/users/@me")
        assert reply.status == 200, reply.body
        result: dict[str, Any] = reply.json
        return result


def session_of(browser: Browser) -> str:
    """The token of a browser's session."""
    return browser.jar["/login", "moothall_session"]


async def single_sign_on(platform: Platform, server: ProviderServer, **fields: Any) -> SingleSignOn:
    """Set the provider up on a platform."""
    platform.allow_private_addresses()
    operator = await make_operator(platform)
    body = {
        "name": "corp",
        "label": "Corp",
        "issuer": server.url,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    }
    reply = await operator.post("/admin/v1/identity-providers", body | fields)
    assert reply.status == 201, reply.body
    return SingleSignOn(platform, server, operator, reply.json["id"])


def rewritten(token: str, **header: Any) -> str:
    """A token with another header, whose signature stays."""
    _, payload, signature = token.split(".")
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{head}.{payload}.{signature}"
