"""What people and bots of a test share: the server, and the guild and channel that they are in."""

import threading
from contextlib import suppress
from typing import Any

from moothall_testing.bot_errors import BotErrors, CaughtError, caught_entry
from moothall_testing.http import send
from moothall_testing.server_process import ServerProcess


class World:
    """The server and what its fixture created."""

    def __init__(self, server: ServerProcess, info: dict[str, Any]) -> None:
        self.server = server
        self.info = info

    @property
    def errors(self) -> BotErrors:
        """The errors of the bots in the running test."""
        return self.server.errors

    def clock_offset(self) -> float:
        """How many seconds the platform is ahead of real time."""
        return float(self.control("GET", "/time")["offset"])

    def report_error(self, caught: CaughtError) -> None:
        """Take an error of a bot into the test and its transcript, which ends whatever waits for the bot.

        It is called in threads of bots, which go on meanwhile.
        """
        if self.errors.add(caught):
            body = {"actor": caught.bot, "text": caught.text, "names": sorted(caught.names), "known": True}
            threading.Thread(target=self._post_error, args=(body,), daemon=True).start()

    def _post_error(self, body: dict[str, Any]) -> None:
        with suppress(OSError):  # the server ends with the test
            self.control("POST", "/errors", body)

    def note_errors(self, entries: list[dict[str, Any]]) -> None:
        """Take the errors of other processes into the test, by their entries in the transcript."""
        for entry in entries:
            if entry["kind"] == "error" and not entry["data"]["known"]:
                self.errors.add(caught_entry(entry))

    def request(self, method: str, path: str, body: Any = None, *, authorization: str, **files: Any) -> Any:
        """A request of the API. Raises RefusedError."""
        return send(method, f"{self.info['api_url']}{path}", body, authorization=authorization, **files)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the control API. Raises RefusedError."""
        return self.server.control(method, path, body)

    def guild(self, name: str | None = None) -> dict[str, Any]:
        """A guild by its name; the first without one. Raises LookupError."""
        guilds: list[dict[str, Any]] = self.info["guilds"]
        for guild in guilds:
            if name in {None, guild["name"]}:
                return guild
        raise LookupError(f"there is no guild {name or ''}, but {[guild['name'] for guild in guilds]}")

    def channel_id(self, name: str, guild: dict[str, Any] | None = None) -> str:
        """The id of a channel by its name. Raises LookupError."""
        guild = self.guild() if guild is None else guild
        if name in guild["channels"]:
            return str(guild["channels"][name])
        channels = self.request("GET", f"/guilds/{guild['id']}/channels", authorization=self.owner_token(guild))
        for channel in channels:
            if channel["name"] == name:
                return str(channel["id"])
        raise LookupError(f"there is no channel {name}, but {sorted(guild['channels'])}")

    def owner_token(self, guild: dict[str, Any]) -> str:
        """The token of a guild's owner."""
        return str(self.info["people"][guild["owner"]]["token"])

    def id_of(self, thing: object) -> str:
        """The id of a person, bot, message or role; of text and numbers themselves."""
        return str(getattr(thing, "id", thing))
