"""An OAuth2 application and a user, for tests."""

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import moothall.oauth2.endpoints  # noqa: F401 its rows
from moothall.objects.ids import Snowflake
from tests.support.harness import Caller, Platform, Reply

CALLBACK = "http://localhost:8000/callback"
VERIFIER = "a-verifier-of-at-least-forty-three-characters-1234"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class App:
    """An application with a secret and a redirect URI."""

    def __init__(self, platform: Platform, owner: Caller, made: dict[str, Any]) -> None:
        self.platform = platform
        self.owner = owner
        self.id: str = made["id"]
        self.secret: str = made["secret"]
        self.bot = Caller(platform, Snowflake(int(made["id"])), f"Bot {made['bot']['token']}", name=made["name"])

    async def token(self, secret: str | None = "", **form: str) -> Reply:
        """Send a form to the token endpoint: with the secret in a Basic header, or for None only the client id."""
        secret = self.secret if secret == "" else secret
        headers = [("authorization", basic(self.id, secret))] if secret is not None else []
        if secret is None:
            form["client_id"] = self.id
        return await post_form(self.platform, "/oauth2/token", form, headers)

    async def exchange(self, code: str, **form: str) -> Reply:
        return await self.token(grant_type="authorization_code", code=code, **{"redirect_uri": CALLBACK} | form)

    async def revoke(self, token: str) -> Reply:
        headers = [("authorization", basic(self.id, self.secret))]
        return await post_form(self.platform, "/oauth2/token/revoke", {"token": token}, headers)


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


async def post_form(
    platform: Platform, path: str, form: dict[str, str], headers: list[tuple[str, str]] | None = None
) -> Reply:
    return await platform.anonymous.request(
        "POST",
        path,
        raw=urlencode(form).encode(),
        content_type="application/x-www-form-urlencoded",
        headers=headers or [],
    )


async def application(platform: Platform, owner: Caller | None = None, **settings: Any) -> App:
    owner = owner or await platform.person()
    body = {"name": "Herald", "redirect_uris": [CALLBACK]} | settings
    made = await owner.post("/applications", body)
    assert made.status == 201, made.body
    return App(platform, owner, made.json)


PKCE: dict[str, Any] = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}


async def consent(person: Caller, app: App, scope: str, body: dict[str, Any] | None = None, **query: Any) -> Reply:
    defaults = {"client_id": app.id, "scope": scope, "response_type": "code", "redirect_uri": CALLBACK, "state": "s1"}
    fields = {name: value for name, value in (defaults | query).items() if value is not None}
    return await person.post("/oauth2/authorize", {"authorize": True} | (body or {}), **fields)


def answer_of(reply: Reply) -> dict[str, str]:
    """The query parameters of the redirect."""
    assert reply.status == 200, reply.body
    return {name: values[0] for name, values in parse_qs(urlsplit(reply.json["location"]).query).items()}


async def tokens_of(person: Caller, app: App, scope: str, body: dict[str, Any] | None = None, **query: Any) -> Any:
    code = answer_of(await consent(person, app, scope, body, **query))["code"]
    reply = await app.exchange(code)
    assert reply.status == 200, reply.body
    return reply.json


def bearer(platform: Platform, person: Caller, token: str) -> Caller:
    return Caller(platform, person.id, f"Bearer {token}")
