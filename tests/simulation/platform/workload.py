"""What clients do: each operation draws what it is about, sends a request, and records what the response proves."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec

from moothall.api.endpoint import endpoints
from moothall.api.router import Router
from tests.simulation.platform.client import MARKER, Violation
from tests.simulation.platform.history import FOREVER, History
from tests.simulation.platform.people import Person
from tests.simulation.platform.server import Lost, Reply, Server
from tests.simulation.platform.world import Guild, Image
from tests.simulation.processes import ProcessLoop
from tests.simulation.randomness import Choices, Randomness

NOTHING: Final = msgspec.UNSET
EMOJIS: Final = ("\N{GRINNING FACE}", "\N{THUMBS UP SIGN}")
VIEW, SEND, MANAGE = 1 << 10, 1 << 11, 1 << 13
POLL: Final = {"question": {"text": "Which?"}, "answers": [{"poll_media": {"text": t}} for t in "ab"], "duration": 1}
_PATIENCE: Final = 2_000
T = TypeVar("T")


class Call(msgspec.Struct):
    """A request with its response; `reply` is None if that was lost."""

    request: float
    response: float
    reply: Reply | None

    @property
    def accepted(self) -> bool:
        """Whether it was carried out for certain."""
        return self.reply is not None and self.reply.status < 300

    @property
    def refused(self) -> bool:
        """Whether it was not carried out for certain."""
        return self.reply is not None and 300 <= self.reply.status < 500

    @property
    def unknown(self) -> bool:
        """Whether it may have been carried out."""
        return self.reply is None or self.reply.status >= 500


class Message(msgspec.Struct):
    """A message that was sent; `id` is empty where the response was lost."""

    text: str
    channel: str
    guild: str
    author: Person
    request: float
    id: str = ""
    poll: bool = False
    response: float = FOREVER


class Expectation(msgspec.Struct):
    """How often a reason must be in a guild's audit log."""

    guild: str
    minimum: int
    maximum: int
    what: str


class Invite(msgspec.Struct):
    """An invite with a bound."""

    code: str
    guild: str
    max_uses: int
    joined: int = 0
    unknown: int = 0


class Workload:
    """The operations, and what is known of the community. `server` gives the process that a request goes to."""

    def __init__(
        self, loop: ProcessLoop, randomness: Randomness, image: Image, server: Callable[[Choices], Server | None]
    ) -> None:
        self.loop = loop
        self.randomness = randomness
        self.image = image
        self._server = server
        self.history = History()
        self.people = image.people
        self.guilds = image.guilds
        self.messages: list[Message] = []
        self.created_channels: list[tuple[str, str]] = []
        self.deleting: list[str] = []
        """The messages that requests without a response yet delete."""
        self.threads: list[tuple[str, str]] = []
        """Guild and channel."""
        self.roles: list[tuple[str, str]] = []
        self.invites: list[Invite] = []
        self.repeated: list[tuple[tuple[str, str], str, str, float]] = []
        """Messages whose nonce made another one too, by their register, with both ids and the time of the second."""
        self.ended_invites: list[str] = []
        """Codes of invites to channels that were deleted."""
        self.webhooks: list[tuple[str, str, str]] = []
        self.expected: dict[str, Expectation] = {}
        self.problems: list[str] = []
        self.shown: set[str] = set()
        """The markers that reads have shown."""
        self.statuses: dict[str, dict[int, int]] = {}
        self.may_fail = False
        """Whether the disk fails: responses of 500 and above are no problem then, and their outcome is unknown."""
        self.relayed = False
        """Whether requests are passed on to another process, which may end before it responds."""
        self.outlived = False
        """Whether what a process has begun may be carried out after it has ended."""
        self.aborting = 0.0
        self._router = Router(endpoints())
        self._numbers = 0
        self._set_initial()

    def _set_initial(self) -> None:
        initial = self.history.initial
        for guild in self.guilds:
            initial["guild name", guild.id] = guild.name
            for member in guild.members:
                initial["member", guild.id, member] = True
            for kind in ("general", "secret", "forum", "voice"):
                initial["channel name", getattr(guild, kind)] = f"sim-{kind}"
            initial["role name", guild.insider] = "Insider"
            for member in guild.members[2:4]:
                initial["has role", guild.id, member, guild.insider] = True
            initial["has role", guild.id, guild.members[1 if guild is self.guilds[0] else 2], guild.moderator] = True

    def number(self, kind: str) -> str:
        """A text that is used once."""
        self._numbers += 1
        return f"{kind}{self._numbers}"

    def marker(self) -> str:
        """A text that is sent in one request, and that nothing else looks like."""
        self._numbers += 1
        return f"w{self._numbers:05}q"

    def members_of(self, guild: Guild) -> list[Person]:
        """People who are members as far as is known, the owner first, and the bot."""
        known = [p for p in self.people if p.bot or self.history.last(("member", guild.id, p.id))]
        return sorted(known, key=lambda p: p.id != guild.owner)

    async def call(
        self,
        choices: Choices,
        person: Person | None,
        method: str,
        path: str,
        body: Any = NOTHING,
        *,
        reason: str | None = None,
        query: dict[str, Any] | None = None,
        **options: Any,
    ) -> Call:
        """Send a request through a network that delays, and loses connections."""
        await self.loop.io(choices.delay(0.003, 0.2))
        server, waited = self._server(choices), 0
        while server is None or not server.serving:
            await self.loop.io(0.3)
            server, waited = self._server(choices), waited + 1
            if waited > _PATIENCE:
                raise Violation("nothing has served for ten minutes")
        start = self.loop.time()
        aborts = choices.delay(0.01) if choices.chance(self.aborting) else None
        try:
            reply = await server.request(
                method,
                path,
                body,
                token="" if person is None else person.token,
                reason=reason,
                query=query,
                aborts_after=aborts,
                **options,
            )
        except Lost:
            # Nothing of a process that has ended is carried out later, unless it has passed the request on.
            is_over = server.dead and not self.relayed and not self.outlived
            return Call(start, self.loop.time() if is_over else FOREVER, None)
        await self.loop.io(choices.delay(0.003, 0.2))
        statuses = self.statuses.setdefault(self._endpoint(method, path), {})
        statuses[reply.status] = statuses.get(reply.status, 0) + 1
        if reply.status >= 500 and not self.may_fail and not (self.relayed and reply.status == 503):
            self.problems.append(f"{method} {path}: {reply.status} {reply.body[:300]!r}")
        if method == "GET" and reply.status < 300:
            self.shown.update(MARKER.findall(reply.body.decode("utf-8", "replace")))
        return Call(start, FOREVER if reply.status >= 500 else self.loop.time(), reply)

    def _endpoint(self, method: str, path: str) -> str:
        """The endpoint of a path, as the documentation names it."""
        match = self._router.match(path)
        if match is None or method not in match[0]:
            raise LookupError(f"{method} {path}")
        return f"{method} {match[0][method].path}"

    def expect(self, reason: str, guild: Guild, call: Call, *, at_least: int = 1, what: str) -> None:
        """Expect entries of the audit log with the reason of a call."""
        if call.accepted:
            self.expected[reason] = Expectation(guild.id, at_least, 1, what)
        elif not call.unknown:
            self.expected[reason] = Expectation(guild.id, 0, 0, f"{what}, refused")
        else:
            self.expected[reason] = Expectation(guild.id, 0, 1, f"{what}, lost")

    def write(self, call: Call, *writes: tuple[tuple[Any, ...], Any]) -> None:
        """Record what a call wrote, if it may have."""
        for key, value in writes:
            if call.accepted:
                self.history.write(key, value, call.request, call.response)
            elif call.unknown:
                self.history.write(key, value, call.request, call.response, known=False)

    def read(self, call: Call, key: tuple[Any, ...], value: Any, page: int = 0) -> None:
        """Record what a call read, with a page's number if it is of one moment with the rest of the page."""
        self.history.read(key, value, call.request, call.response, page)

    # Choosing

    def guild(self, choices: Choices) -> Guild:
        """A guild."""
        return choices.choice(self.guilds)

    def member(self, choices: Choices, guild: Guild) -> Person:
        """A member, mostly one who may do much."""
        members = self.members_of(guild)
        return members[0] if choices.chance(0.4) else choices.choice(members)

    def channel(self, choices: Choices, guild: Guild) -> str:
        """A channel that messages can be sent to."""
        created = [channel for owner, channel in (*self.created_channels, *self.threads) if owner == guild.id]
        if created and choices.chance(0.4):
            return choices.choice(created[-6:])
        return guild.general if choices.chance(0.6) else guild.secret

    def message(self, choices: Choices) -> Message | None:
        """A recent message whose id is known."""
        known = [message for message in self.messages[-25:] if message.id]
        return choices.choice(known) if known else None

    def guild_of(self, guild_id: str) -> Guild:
        """A guild by its id."""
        return next(guild for guild in self.guilds if guild.id == guild_id)


Operation = Callable[[Workload, Choices], Awaitable[None]]


def path_of(emoji: str) -> str:
    """An emoji in a path."""
    return quote(emoji)
