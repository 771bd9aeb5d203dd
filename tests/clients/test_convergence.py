"""A client that heard every change knows what one knows that has just logged in, also if its connection was cut."""

import random
from contextlib import suppress
from typing import Any

import discord
import pytest

from tests.clients.bots import Client, Harbour, cut, online, soon, until
from tests.clients.live import Person, Refused, World

CHANGES = 60


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    """Without rate limits."""
    return {"rate_limits": "false"}


def known(guild: discord.Guild) -> dict[str, Any]:
    """Everything of a guild in a client's caches."""
    return {
        "guild": (guild.name, guild.owner_id, guild.afk_timeout, guild.verification_level, guild.member_count),
        "system": (guild.system_channel and guild.system_channel.id, guild.afk_channel and guild.afk_channel.id),
        "me": (guild.me.nick, guild.me.guild_permissions.value),
        "roles": {
            role.id: (role.name, role.position, role.permissions.value, role.colour.value, role.hoist)
            for role in guild.roles
        },
        "channels": {
            channel.id: (
                channel.type,
                channel.name,
                channel.position,
                channel.category_id,
                {target.id: overwrite.pair() for target, overwrite in channel.overwrites.items()},
                getattr(channel, "topic", None),
                getattr(channel, "slowmode_delay", None),
            )
            for channel in guild.channels
        },
        "members": {
            member.id: (
                member.name,
                member.nick,
                {role.id for role in member.roles},
                member.timed_out_until,
                member.voice,
            )
            for member in guild.members
        },
    }


Request = tuple[str, str, Any]


class Hand:
    """The owner of a guild, whom nothing is forbidden, changing it at random."""

    def __init__(self, harbour: Harbour, guests: list[Person], seed: int) -> None:
        self.owner = harbour.owner
        self.guild = f"/guilds/{harbour.guild.id}"
        self.guild_id = str(harbour.guild.id)
        self.members = [*(str(guest.id) for guest in guests), str(harbour.bot.id)]
        self.random = random.Random(seed)
        self.made = 0

    async def change(self) -> None:
        """One change; one that the rules refuse is none."""
        roles = [role["id"] for role in await self.owner.get(f"{self.guild}/roles") if role["id"] != self.guild_id]
        channels = await self.owner.get(f"{self.guild}/channels")
        places = [
            lambda: self.of_roles(roles),
            lambda: self.of_channels(channels),
            lambda: self.of_overwrites(channels, roles),
            lambda: self.of_members(roles),
            lambda: self.of_the_guild(channels),
        ]
        method, path, body = self.random.choice(places)()
        with suppress(Refused):
            await self.owner.request(method, path, body)
            self.made += 1

    def name(self) -> str:
        """A name that nothing else has."""
        return f"n{self.random.getrandbits(40)}"

    def bits(self) -> str:
        """Some permissions, seeing among them every other time."""
        return str(self.random.getrandbits(46) & ~1024 | self.random.choice([0, 1024]))

    def of_roles(self, roles: list[str]) -> Request:
        """A role made, changed, moved or deleted."""
        role = self.random.choice(roles)
        return self.random.choice(
            [
                ("POST", f"{self.guild}/roles", {"name": self.name(), "permissions": self.bits()}),
                ("PATCH", f"{self.guild}/roles/{role}", {"permissions": self.bits(), "color": 255, "hoist": True}),
                ("PATCH", f"{self.guild}/roles/{self.guild_id}", {"permissions": self.bits()}),
                ("PATCH", f"{self.guild}/roles", [{"id": role, "position": self.random.randint(1, 5)}]),
                ("DELETE", f"{self.guild}/roles/{role}", None),
            ]
        )

    def of_channels(self, channels: list[dict[str, Any]]) -> Request:
        """A channel made, changed, moved or deleted."""
        channel = self.random.choice(channels)["id"] if channels else "1"
        parents = [channel["id"] for channel in channels if channel["type"] == 4]
        parent = self.random.choice([*parents, None])
        hidden = [{"id": self.guild_id, "type": 0, "deny": "1024"}] if self.random.random() < 0.3 else []
        made = {"name": self.name(), "type": self.random.choice([0, 0, 2, 4]), "permission_overwrites": hidden}
        return self.random.choice(
            [
                ("POST", f"{self.guild}/channels", made),
                ("PATCH", f"/channels/{channel}", {"name": self.name(), "topic": self.name(), "parent_id": parent}),
                ("PATCH", f"{self.guild}/channels", [{"id": channel, "position": self.random.randint(0, 4)}]),
                ("DELETE", f"/channels/{channel}", None),
            ]
        )

    def of_overwrites(self, channels: list[dict[str, Any]], roles: list[str]) -> Request:
        """An overwrite put or taken away."""
        channel = self.random.choice(channels)["id"] if channels else "1"
        kind = self.random.randrange(2)
        target = self.random.choice(self.members if kind else [*roles, self.guild_id])
        path = f"/channels/{channel}/permissions/{target}"
        allow = int(self.bits())
        body = {"type": kind, "allow": str(allow), "deny": str(int(self.bits()) & ~allow)}
        return self.random.choice([("PUT", path, body), ("PUT", path, body), ("DELETE", path, None)])

    def of_members(self, roles: list[str]) -> Request:
        """A member named, or given or rid of a role."""
        path = f"{self.guild}/members/{self.random.choice(self.members)}"
        role = self.random.choice(roles)
        return self.random.choice(
            [
                ("PATCH", path, {"nick": self.random.choice([self.name(), None])}),
                ("PUT", f"{path}/roles/{role}", None),
                ("DELETE", f"{path}/roles/{role}", None),
            ]
        )

    def of_the_guild(self, channels: list[dict[str, Any]]) -> Request:
        """The guild's own settings."""
        texts = [channel["id"] for channel in channels if channel["type"] == 0]
        return self.random.choice(
            [
                ("PATCH", self.guild, {"name": self.name(), "verification_level": self.random.randrange(4)}),
                ("PATCH", self.guild, {"system_channel_id": self.random.choice([*texts, None])}),
            ]
        )


@pytest.mark.parametrize("seed", range(3))
async def test_caches_fed_by_events_equal_fresh_ones(world: World, seed: int) -> None:
    permissions = discord.Permissions(view_channel=True, send_messages=True, manage_roles=True).value
    async with Harbour.opened(world, permissions=permissions) as harbour:
        guests = [await harbour.guest() for _ in range(2)]
        hand = Hand(harbour, guests, seed)
        for number in range(CHANGES):
            if number % 20 == 10:
                resumed = soon(harbour.client, "resumed")
                cut(harbour.client)
                for _ in range(3):
                    await hand.change()
                await resumed
            await hand.change()
        # A last event that everyone hears: what came before it is there as well.
        await harbour.owner.patch(hand.guild, {"name": "The end"})
        await until(lambda: harbour.guild.name == "The end")
        async with online(Client(), harbour.bot) as fresh:
            assert known(harbour.guild) == known(fresh.guilds[0])
        assert len(harbour.client.events("ready")) == 1
        assert hand.made > CHANGES / 2, "most changes were refused"
