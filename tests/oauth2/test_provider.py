"""This server as a provider of OpenID Connect: what it says of itself, and what a login tells."""

import json
from typing import Any

import jwt

from moothall.oauth2.provider_metadata import DISCOVERY_PATH, provider_metadata
from moothall.pages.documents import Description, Documents
from moothall.resources.identity_provider.metadata import ProviderMetadata
from tests.oauth2.flow import PKCE, VERIFIER, answer_of, application, bearer, consent
from tests.support.harness import Platform

URL = "http://localhost:3333"


async def read_document(platform: Platform) -> dict[str, Any]:
    """The document, at whatever host it is requested."""

    async def describe() -> Description:
        return Description(b"", b"")

    async def search(*_: object) -> Any:
        return []

    documents = Documents(
        describe, public_url=URL, gateway_url="ws://x", limits=lambda: platform.services.limits, search=search
    )
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"host", b"evil.example"), (b"x-forwarded-host", b"evil.example")]
    scope = {"type": "http", "method": "GET", "path": DISCOVERY_PATH, "query_string": b"", "headers": headers}
    await documents(scope, receive, send)
    assert sent[0]["status"] == 200
    document: dict[str, Any] = json.loads(b"".join(each.get("body", b"") for each in sent[1:]))
    return document


async def test_the_document_names_what_exists_whatever_the_host_header(platform: Platform) -> None:
    document = await read_document(platform)
    assert document["issuer"] == URL
    assert all(value.startswith(URL) for name, value in document.items() if name.endswith(("_endpoint", "_uri")))
    assert (document["response_types_supported"], document["code_challenge_methods_supported"]) == (["code"], ["S256"])
    keys = await platform.anonymous.get(document["jwks_uri"].removeprefix(f"{URL}/api/v10"))
    assert [key["alg"] for key in keys.json["keys"]] == document["id_token_signing_alg_values_supported"]


async def test_a_login_by_code_tells_what_the_document_says(platform: Platform) -> None:
    app, person = await application(platform), await platform.person("wanda", email="w@example.org", verified=True)
    code = answer_of(await consent(person, app, "openid email", **PKCE, nonce="n-1"))["code"]
    assert (await app.exchange(code)).status == 400
    assert (await app.exchange(code, code_verifier="w" * 43)).status == 400
    issued = (await app.exchange(code, code_verifier=VERIFIER)).json
    (key,) = (await platform.anonymous.get("/oauth2/keys")).json["keys"]
    claims = jwt.decode(issued["id_token"], jwt.PyJWK(key).key, algorithms=["RS256"], audience=app.id, issuer=URL)
    userinfo = (await bearer(platform, person, issued["access_token"]).get("/oauth2/userinfo")).json
    assert (claims["sub"], claims["nonce"], userinfo["sub"]) == (str(person.id), "n-1", str(person.id))
    supported = set(provider_metadata(URL).claims_supported)
    assert set(userinfo) <= supported
    assert set(claims) - {"iss", "aud", "iat", "exp", "nonce"} <= supported


async def test_pkce_is_optional_for_clients_with_a_secret_and_demanded_of_others(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    code = answer_of(await consent(person, app, "openid"))["code"]
    assert (await app.exchange(code)).status == 200
    public = await application(platform, public_client=True)
    refused = await consent(person, public, "openid")
    assert refused.errors_at("code_challenge") == ["BASE_TYPE_REQUIRED"]


def test_only_scopes_are_requested_that_a_provider_supports() -> None:
    def metadata(scopes: list[str] | None) -> ProviderMetadata:
        return ProviderMetadata(
            issuer=URL, authorization_endpoint=URL, token_endpoint=URL, jwks_uri=URL, scopes_supported=scopes
        )

    assert metadata(None).supported("openid profile email") == "openid profile email"
    assert metadata(["openid", "email"]).supported("openid profile email") == "openid email"
    assert metadata([]).supported("openid profile") == "openid"
