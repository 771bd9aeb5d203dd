"""What operators do, and the programs of identity providers: on accounts, guilds and rules that they have made.

The other guilds and the people in them are left alone, so that what is known of them stays exact. Held: an accepted act
is in the log of operators once, by its reason, and a refused one never; accounts that a provider manages are what it
stored last.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from tests.simulation.platform.people import Person
from tests.simulation.platform.wild import PASSWORD
from tests.simulation.platform.workload import NOTHING, Call, Expectation, Workload
from tests.simulation.randomness import Choices

ADMIN: Final = "/admin/v1"
SCIM: Final = "/scim/v2/corp"
_OPERATORS: Final = f"{ADMIN}/operators"
_PROVIDERS: Final = f"{ADMIN}/identity-providers"
_READS: Final = (
    "guilds",
    "holds",
    "identity-providers",
    "log",
    "mails",
    "operators",
    "operators/@me",
    "overview",
    "reports",
    "retention",
    "settings",
    "tokens",
    "users",
)
_OF_PROVIDERS: Final = ("Groups", "ResourceTypes", "ResourceTypes/User", "Schemas", "ServiceProviderConfig", "Users")
_USER_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
Act = Callable[[Choices], Awaitable[None]]


class OperatorOperations:
    """An operator, the program of an identity provider, and what they have made."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        wild = work.image.wild
        self._operator, self._program = wild.operator, wild.program
        self._accounts: list[Person] = []
        self._guilds: list[tuple[str, str]] = []
        """Guilds with a channel of each."""
        self.expected: dict[str, Expectation] = {}
        """How often a reason must be in the log of operators."""
        self._users: list[str] = []
        self._groups: list[str] = []
        self._acts: dict[Act, float] = {
            self._read: 4,
            self._close_account: 4,
            self._administer_guild: 3,
            self._hold: 2,
            self._set_retention: 1,
            self._change_settings: 1,
            self._make_operator: 2,
            self._make_token: 1,
            self._change_provider: 2,
            self._report: 2,
            self._manage_user: 6,
            self._manage_group: 3,
        }

    async def operate(self, _work: Workload, choices: Choices) -> None:
        """Do something."""
        await choices.weighted(self._acts)(choices)

    # Requests

    async def _act(self, choices: Choices, method: str, path: str, body: Any = NOTHING, **query: Any) -> Call:
        """Act as the operator, with a reason."""
        reason = self._work.number("o")
        call = await self._work.call(choices, self._operator, method, path, body, reason=reason, query=query)
        # One that finds nothing to change is accepted too.
        maximum = 0 if call.refused else 1
        self.expected[reason] = Expectation("", 0, maximum, f"{method} {path}")
        return call

    async def _act_once(self, choices: Choices, method: str, path: str, body: Any = NOTHING, **query: Any) -> Call:
        """Act as the operator, so that it is in the log if it is accepted."""
        call = await self._act(choices, method, path, body, **query)
        if call.accepted:
            reason = next(reversed(self.expected))
            self.expected[reason] = Expectation("", 1, 1, f"{method} {path}")
        return call

    async def _get(self, choices: Choices, path: str) -> Call:
        return await self._work.call(choices, self._operator, "GET", path)

    async def _read(self, choices: Choices) -> None:
        """Read something that operators or providers read."""
        if choices.chance(0.4):
            await self._scim(choices, "GET", f"/{choices.choice(_OF_PROVIDERS)}")
        else:
            await self._get(choices, f"{ADMIN}/{choices.choice(_READS)}")

    async def _account(self, choices: Choices) -> Person | None:
        """An account that operators may do anything with: one of those before, or a new one."""
        if self._accounts and choices.chance(0.6):
            return choices.choice(self._accounts)
        name = self._work.marker()
        call = await self._work.call(choices, None, "POST", "/auth/register", {"username": name, "password": PASSWORD})
        if not call.accepted or call.reply is None:
            return None
        made = call.reply.json
        self._accounts.append(Person(made["user_id"], name, made["token"]))
        return self._accounts[-1]

    # Accounts, guilds, rules

    async def _close_account(self, choices: Choices) -> None:
        """Suspend, delete or restore an account, log it out, or read it."""
        person = await self._account(choices)
        if person is None:
            return
        path = f"{ADMIN}/users/{person.id}"
        kind = choices.choice(("suspend", "restore", "log-out", "approve", "reset-link", "delete", "", "/identities"))
        if kind == "delete":
            await self._act(choices, "DELETE", path, days=choices.choice((0, 14)))
        elif kind == "reset-link":
            await self._act(choices, "POST", f"{path}/{kind}", {"minutes": 30})
        elif kind in {"", "/identities"}:
            await self._get(choices, path + kind)
        else:
            await self._act(choices, "POST", f"{path}/{kind}")

    async def _guild(self, choices: Choices) -> tuple[str, str] | None:
        """A guild that operators may do anything with."""
        if self._guilds and choices.chance(0.7):
            return choices.choice(self._guilds)
        owner = await self._account(choices)
        call = await self._work.call(choices, owner, "POST", "/guilds", {"name": self._work.marker()})
        if not call.accepted or call.reply is None:
            return None
        self._guilds.append((call.reply.json["id"], call.reply.json["system_channel_id"]))
        return self._guilds[-1]

    async def _administer_guild(self, choices: Choices) -> None:
        """Delete or restore a guild, change what it may, or read it."""
        guild = await self._guild(choices)
        if guild is None:
            return
        path = f"{ADMIN}/guilds/{guild[0]}"
        kind = choices.choice(("delete", "restore", "change", "read"))
        if kind == "delete":
            await self._act_once(choices, "DELETE", path, days=choices.choice((1, 30)))
        elif kind == "restore":
            await self._act_once(choices, "POST", f"{path}/restore", {})
        elif kind == "change":
            await self._act(choices, "PATCH", path, {"premium_tier": choices.integer(0, 3)})
        else:
            await self._get(choices, path)

    async def _hold(self, choices: Choices) -> None:
        """Keep what is deleted in a guild, read that, and end it."""
        guild = await self._guild(choices)
        if guild is None:
            return
        body = {"scope": "channel", "target_id": guild[1], "name": self._work.marker()}
        made = await self._act_once(choices, "POST", f"{ADMIN}/holds", body)
        if not made.accepted or made.reply is None:
            return
        path = f"{ADMIN}/holds/{made.reply.json['id']}"
        await self._act(choices, "POST", f"{path}/messages")
        if choices.chance(0.7):
            await self._act_once(choices, "DELETE", path)

    async def _set_retention(self, choices: Choices) -> None:
        """Say how long messages of a guild are kept."""
        guild = await self._guild(choices)
        if guild is not None:
            days = choices.choice((1, 30, None))
            body = {"scope": "guild", "target_id": guild[0], "message_days": days}
            await self._act(choices, "PUT", f"{ADMIN}/retention", body)

    async def _change_settings(self, choices: Choices) -> None:
        await self._act(choices, "PATCH", f"{ADMIN}/settings", {"instance_description": self._work.marker()})

    async def _make_operator(self, choices: Choices) -> None:
        """Make an account an operator, or one no longer."""
        person = await self._account(choices)
        if person is None:
            return
        if choices.chance(0.6):
            permissions = choices.sample(["users", "guilds", "reports", "log"], 2)
            await self._act(choices, "PUT", f"{_OPERATORS}/{person.id}", {"permissions": permissions})
        else:
            await self._act_once(choices, "DELETE", f"{_OPERATORS}/{person.id}")

    async def _make_token(self, choices: Choices) -> None:
        """Make a token of a program, and revoke it."""
        body = {"name": self._work.marker(), "permissions": ["log"]}
        made = await self._act_once(choices, "POST", f"{ADMIN}/tokens", body)
        if made.accepted and made.reply is not None:
            await self._act_once(choices, "DELETE", f"{ADMIN}/tokens/{made.reply.json['id']}")

    async def _change_provider(self, choices: Choices) -> None:
        """Make a provider, change it, give its groups a guild, link an account to it, and delete it."""
        body = {"name": self._work.marker(), "issuer": "https://login.example.com", "client_id": "moothall"}
        made = await self._act_once(choices, "POST", _PROVIDERS, body)
        if not made.accepted or made.reply is None:
            return
        number = made.reply.json["id"]
        path = f"{_PROVIDERS}/{number}"
        await self._act(choices, "PATCH", path, {"label": self._work.marker()})
        guild, person = await self._guild(choices), await self._account(choices)
        if guild is not None:
            group = {"name": self._work.marker(), "guild_id": guild[0]}
            added = await self._act_once(choices, "POST", f"{path}/groups", group)
            await self._get(choices, f"{path}/groups")
            if added.accepted and added.reply is not None and choices.chance(0.5):
                await self._act_once(choices, "DELETE", f"{path}/groups/{added.reply.json['id']}")
        if person is not None:
            subject = {"subject": self._work.marker()}
            await self._act_once(choices, "POST", f"{ADMIN}/users/{person.id}/identities/{number}", subject)
            await self._act(choices, "POST", f"{path}/release", subject)
        await self._act_once(choices, "DELETE", path)

    async def _report(self, choices: Choices) -> None:
        """Report an account, and close a report."""
        work, person = self._work, await self._account(choices)
        menu = await work.call(choices, work.people[0], "GET", "/reporting/menu/user")
        if person is None or not menu.accepted or menu.reply is None:
            return
        tree = menu.reply.json
        first = tree["root_node_id"]
        last = tree["nodes"][str(first)]["children"][0][1]
        way = {name: tree[name] for name in ("version", "variant", "name", "language")}
        body = {**way, "breadcrumbs": [first, last], "elements": {}, "reported_user_id": person.id}
        made = await work.call(choices, work.people[0], "POST", "/reporting/user", body)
        if made.accepted and made.reply is not None:
            path = f"{ADMIN}/reports/{made.reply.json['report_id']}"
            await self._get(choices, path)
            await self._act_once(choices, "POST", f"{path}/close", {"outcome": "warned"})

    # An identity provider

    async def _scim(self, choices: Choices, method: str, path: str, body: Any = NOTHING) -> Call:
        return await self._work.call(
            choices, self._program, method, SCIM + path, body, content_type="application/scim+json"
        )

    async def _manage_user(self, choices: Choices) -> None:
        """Store a user of the provider, or delete one."""
        work, name = self._work, self._work.marker()
        body: dict[str, Any] = {"schemas": [_USER_SCHEMA], "userName": f"{name}@corp.example", "displayName": name}
        if not self._users or choices.chance(0.4):
            made = await self._scim(choices, "POST", "/Users", body)
            if made.accepted and made.reply is not None:
                number = made.reply.json["id"]
                self._users.append(number)
                work.history.initial[_key(number)] = name
            return
        number = choices.choice(self._users)
        path = f"/Users/{number}"
        kind = choices.choice(("PUT", "PATCH", "GET", "DELETE"))
        if kind == "PATCH":
            change = {"op": "replace", "path": "displayName", "value": name}
            body = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [change]}
        call = await self._scim(choices, kind, path, body if kind.startswith("P") else NOTHING)
        if kind != "GET":
            work.write(call, (_key(number), None if kind == "DELETE" else name))
        elif not call.unknown:
            self._note_user(number, call)

    def _note_user(self, number: str, call: Call) -> None:
        """Record what a response shows of a user."""
        shown = call.reply.json["displayName"] if call.accepted and call.reply is not None else None
        self._work.read(call, _key(number), shown)

    async def _manage_group(self, choices: Choices) -> None:
        """Store a group of the provider, or delete one."""
        body: dict[str, Any] = {
            "displayName": self._work.marker(),
            "members": [{"value": each} for each in self._users[-2:]],
        }
        if not self._groups or choices.chance(0.4):
            made = await self._scim(choices, "POST", "/Groups", body)
            if made.accepted and made.reply is not None:
                self._groups.append(made.reply.json["id"])
            return
        path, kind = f"/Groups/{choices.choice(self._groups)}", choices.choice(("PUT", "PATCH", "GET", "DELETE"))
        if kind == "PATCH":
            body = {"Operations": [{"op": "replace", "path": "displayName", "value": self._work.marker()}]}
        await self._scim(choices, kind, path, body if kind.startswith("P") else NOTHING)

    # What must be true of it

    async def audit(self, choices: Choices, problems: list[str]) -> None:
        """Read the users of the provider, and compare the log of operators with what was accepted."""
        for number in self._users:
            self._note_user(number, await self._scim(choices, "GET", f"/Users/{number}"))
        counts = await self._count_reasons(choices)
        for reason, expected in self.expected.items():
            count = counts.get(reason, 0)
            if not expected.minimum <= count <= expected.maximum:
                problems.append(f"{expected.what} ({reason}) has {count} entries in the log of operators")

    async def _count_reasons(self, choices: Choices) -> dict[str, int]:
        counts: dict[str, int] = {}
        query: dict[str, Any] = {"limit": 100}
        while True:
            call = await self._work.call(choices, self._operator, "GET", f"{ADMIN}/log", query=query)
            entries = call.reply.json if call.accepted and call.reply is not None else []
            for entry in entries:
                if (reason := entry["reason"]) is not None:
                    counts[reason] = counts.get(reason, 0) + 1
            if len(entries) < 100:
                return counts
            query["before"] = entries[-1]["number"]


def _key(number: str) -> tuple[str, str]:
    """The register of the name that a user of the provider has."""
    return ("user of the provider", number)
