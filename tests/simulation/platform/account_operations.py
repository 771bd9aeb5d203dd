"""What belongs to accounts and happens in several steps: authorizations of applications, and second factors.

Held: a code of an authorization and a backup code are good for one use, and a token that was revoked is refused.
"""

import base64
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from pyotp import TOTP

from tests.simulation.loop import EPOCH
from tests.simulation.platform.people import Person
from tests.simulation.platform.wild import PASSWORD
from tests.simulation.platform.workload import NOTHING, Call, Workload
from tests.simulation.randomness import Choices

_CALLBACK: Final = "http://localhost:8000/callback"
_SCOPES: Final = "identify guilds openid role_connections.write"
_CODE_SECONDS: Final = 31.0
"""After so long a code of a second factor is another one."""


async def _register(work: Workload, choices: Choices) -> Person | None:
    name = work.marker()
    call = await work.call(choices, None, "POST", "/auth/register", {"username": name, "password": PASSWORD})
    return None if (made := _accepted(call)) is None else Person(made["user_id"], name, made["token"])


def _accepted(call: Call) -> Any:
    """The response of an accepted request; None for another one."""
    return call.reply.json if call.accepted and call.reply is not None else None


async def _once_only(work: Workload, what: str, *calls: Any) -> Any:
    """Make requests at once, of which at most one may be accepted; its response."""
    tasks = [work.loop.create_task(call) for call in calls]
    accepted = [reply for task in tasks if (reply := _accepted(await task)) is not None]
    if len(accepted) > 1:
        work.problems.append(f"{what} was good for {len(accepted)} uses")
    return accepted[0] if accepted else None


# Applications


async def authorize_application(work: Workload, choices: Choices) -> None:
    """Let an application act for a person, until it is revoked."""
    owner = await _register(work, choices)
    new = {"name": work.marker(), "redirect_uris": [_CALLBACK]}
    made = None if owner is None else _accepted(await work.call(choices, owner, "POST", "/applications", new))
    person = await _register(work, choices)
    if made is None or person is None:
        return
    query = {"client_id": made["id"], "scope": _SCOPES, "response_type": "code", "redirect_uri": _CALLBACK}
    await work.call(choices, person, "GET", "/oauth2/authorize", query=query)
    consent = await work.call(choices, person, "POST", "/oauth2/authorize", {"authorize": True}, query=query)
    if (answer := _accepted(consent)) is None:
        return
    code = parse_qs(urlsplit(answer["location"]).query)["code"][0]
    secret = base64.b64encode(f"{made['id']}:{made['secret']}".encode()).decode()
    application = Person(made["id"], made["name"], f"Basic {secret}")
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": _CALLBACK}
    uses = [_post_form(work, choices, application, "/oauth2/token", form) for _ in range(choices.choice((1, 1, 2)))]
    tokens = await _once_only(work, f"a code of {made['id']}", *uses)
    if tokens is not None and len(uses) == 1:
        await _act_for(work, choices, application, person, tokens["access_token"])


async def _post_form(work: Workload, choices: Choices, caller: Person, path: str, form: dict[str, str]) -> Call:
    raw, kind = urlencode(form).encode(), "application/x-www-form-urlencoded"
    return await work.call(choices, caller, "POST", path, raw=raw, content_type=kind)


async def _act_for(work: Workload, choices: Choices, application: Person, person: Person, token: str) -> None:
    """Act with a token, revoke it, and see that it is refused."""
    bearer = Person(person.id, person.name, f"Bearer {token}")
    for path in ("/oauth2/@me", "/oauth2/userinfo", "/users/@me"):
        await work.call(choices, bearer, "GET", path)
    connection = f"/users/@me/applications/{application.id}/role-connection"
    for method, body in (("PUT", {"platform_name": work.marker()}), ("GET", NOTHING), ("DELETE", NOTHING)):
        await work.call(choices, bearer, method, connection, body)
    if choices.chance(0.5):
        revoked = await _post_form(work, choices, application, "/oauth2/token/revoke", {"token": token})
    else:
        listed = _accepted(await work.call(choices, person, "GET", "/oauth2/tokens"))
        if not listed:
            return
        revoked = await work.call(choices, person, "DELETE", f"/oauth2/tokens/{listed[0]['id']}")
    if revoked.accepted and (await work.call(choices, bearer, "GET", "/users/@me")).accepted:
        work.problems.append(f"a token of {application.id} that was revoked is accepted")


# Second factors


async def use_second_factor(work: Workload, choices: Choices) -> None:
    """Protect an account by codes, log in with one and with a backup code, and take the protection away."""
    person = await _register(work, choices)
    if person is None:
        return
    secret = base64.b32encode(choices.token_bytes(20)).decode()
    enabled = _accepted(
        await work.call(
            choices,
            person,
            "POST",
            "/users/@me/mfa/totp/enable",
            {"password": PASSWORD, "secret": secret, "code": _code(work, secret)},
        )
    )
    if enabled is None:
        return
    person = Person(person.id, person.name, enabled["token"])
    backup = enabled["backup_codes"][0]["code"]
    tickets = [await _ticket(work, choices, person) for _ in range(2)]
    uses = [
        work.call(choices, None, "POST", "/auth/mfa/backup", {"ticket": ticket, "code": backup})
        for ticket in tickets
        if ticket
    ]
    await _once_only(work, f"a backup code of {person.name}", *uses)
    await _prove(work, choices, person, secret)


async def _ticket(work: Workload, choices: Choices, person: Person) -> str:
    """What a login by password gives before the second factor."""
    call = await work.call(choices, None, "POST", "/auth/login", {"login": person.name, "password": PASSWORD})
    answer = _accepted(call)
    if answer is not None and "ticket" not in answer:
        work.problems.append(f"{person.name} logs in without the second factor")
    return "" if answer is None else str(answer.get("ticket", ""))


async def _prove(work: Workload, choices: Choices, person: Person, secret: str) -> None:
    """Log in with a code, and switch the second factor off."""
    await work.loop.io(_CODE_SECONDS)
    ticket = await _ticket(work, choices, person)
    body = {"ticket": ticket, "code": _code(work, secret)}
    login = _accepted(await work.call(choices, None, "POST", "/auth/mfa/totp", body))
    if login is None:
        return
    proved = Person(person.id, person.name, login["token"])
    refused = await work.call(
        choices, proved, "POST", "/auth/verify/view-backup-codes-challenge", {"password": PASSWORD}
    )
    data = refused.reply.json if refused.refused and refused.reply is not None else None
    await work.loop.io(_CODE_SECONDS)
    if not data or "mfa" not in data:
        return
    body = {"ticket": data["mfa"]["ticket"], "mfa_type": "totp", "data": _code(work, secret)}
    finished = _accepted(await work.call(choices, proved, "POST", "/mfa/finish", body))
    if finished is None:
        return
    proof = finished["token"]
    challenge = await work.call(
        choices, proved, "POST", "/auth/verify/view-backup-codes-challenge", {"password": PASSWORD}, proof=proof
    )
    if (nonces := _accepted(challenge)) is not None:
        codes: dict[str, Any] = {"nonce": nonces["nonce"], "key": "", "regenerate": True}
        await work.call(choices, proved, "POST", "/users/@me/mfa/codes-verification", codes, proof=proof)
    await work.call(choices, proved, "POST", "/users/@me/mfa/totp/disable", proof=proof)


def _code(work: Workload, secret: str) -> str:
    return TOTP(secret).generate_otp(int(EPOCH + work.loop.time()) // 30)
