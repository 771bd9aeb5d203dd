"""A channel's JSON is kept, and never differs from what a list of the guild's channels shows."""

from collections.abc import Awaitable, Callable

from tests.resources.message.messaging import guild_of, member_of, say
from tests.support.harness import Platform, Reply


async def test_every_change_of_a_channel_shows_at_once(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    channel = f"/channels/{guild.general}"
    sent = await say(friend, url, "first")
    changes: list[Callable[[], Awaitable[Reply]]] = [
        lambda: friend.post(url, {"content": "second"}),
        lambda: owner.put(f"{url}/pins/{sent['id']}"),
        lambda: owner.patch(channel, {"name": "harbour", "topic": "ships"}),
        lambda: owner.put(f"{channel}/permissions/{friend.id}", {"type": 1, "allow": "1024"}),
        lambda: owner.delete(f"{channel}/permissions/{friend.id}"),
        lambda: owner.delete(f"{url}/pins/{sent['id']}"),
        lambda: owner.patch(f"/guilds/{guild.id}/channels", [{"id": str(guild.general), "position": 7}]),
    ]
    for change in changes:
        before = (await friend.get(channel)).json
        assert (await change()).status in {200, 204}
        for caller in (owner, friend):
            shown = (await caller.get(channel)).json
            listed = (await caller.get(f"/guilds/{guild.id}/channels")).json
            assert shown == next(each for each in listed if each["id"] == str(guild.general)) != before
