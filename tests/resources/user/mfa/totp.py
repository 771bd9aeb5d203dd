"""People with two-factor authentication, for tests."""

from msgspec import Struct
from pyotp import TOTP, random_base32

from moothall.objects.clock import CLOCK
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from tests.support.harness import Caller, Platform, Reply

PASSWORD = "correct horse battery"


class Phone(Struct):
    """An app with the secret of an account."""

    secret: str

    def code(self, seconds: float = 0) -> str:
        """The code that it shows so many seconds from now."""
        return TOTP(self.secret).generate_otp(int(Timestamp.now() / 1000 + seconds) // 30)

    def next_code(self) -> str:
        """The code of the next half a minute, which has not come yet: wait for it."""
        CLOCK.advance(30)
        return self.code()


class Careful(Struct):
    """A person with two-factor authentication."""

    caller: Caller
    phone: Phone
    backup_codes: list[str]


async def register(platform: Platform, name: str = "alice", **fields: object) -> Caller:
    reply = await platform.anonymous.post("/auth/register", {"username": name, "password": PASSWORD, **fields})
    assert reply.status == 201, reply
    return Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"], name=name)


async def enable(caller: Caller, **changes: object) -> tuple[Reply, Phone]:
    """Switch on TOTP with a new secret."""
    phone = Phone(random_base32())
    body = {"password": PASSWORD, "secret": phone.secret, "code": phone.code(), **changes}
    return await caller.post("/users/@me/mfa/totp/enable", body), phone


async def careful(platform: Platform, name: str = "alice", **fields: object) -> Careful:
    """Register a person with two-factor authentication."""
    caller = await register(platform, name, **fields)
    reply, phone = await enable(caller)
    assert reply.status == 200, reply
    backup_codes = [each["code"] for each in reply.json["backup_codes"]]
    return Careful(Caller(platform, caller.id, reply.json["token"], name=name), phone, backup_codes)


async def password_login(platform: Platform, name: str = "alice", password: str = PASSWORD) -> Reply:
    return await platform.anonymous.post("/auth/login", {"login": name, "password": password})


async def code_login(platform: Platform, ticket: str, code: str, kind: str = "totp", **fields: object) -> Reply:
    return await platform.anonymous.post(f"/auth/mfa/{kind}", {"ticket": ticket, "code": code, **fields})
