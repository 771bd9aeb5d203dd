"""What nouns that know nothing of each other say of one channel, one role or one emoji after its end.

All of them name it until then. Afterwards none does, and whatever they tell can be given back to them.
"""

from typing import Any

import pytest

from moothall.objects.features import ALL
from tests.harness import CATEGORY, FORUM, STAGE, TEXT, VOICE, Caller, Guild, Platform, Reply
from tests.resources.guild.pictures import picture

_SCREENS = {"welcome-screen": "PATCH", "onboarding": "PUT", "new-member-welcome": "PUT", "widget": "PATCH", "": "PATCH"}
"""Where all three are named, with the method that changes it."""


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("owner")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    paused = {"INVITES_DISABLED", "COMMUNITY", "DISCOVERABLE"}
    return await platform.guild(owner, name="The Hall", features=sorted(ALL - paused), premium_tier=3)


class Hall:
    """A guild in which one channel, one role and one emoji are named wherever they can be."""

    def __init__(self, guild: Guild) -> None:
        self.owner = guild.owner
        self.path = f"/guilds/{guild.id}"

    async def furnish(self, guild: Guild) -> "Hall":
        """Name them everywhere."""
        self.channel, self.role = str(await guild.channel(name="here")), str(await guild.role(position=1))
        first, *others = [str(await guild.channel(name=f"there-{n}")) for n in range(8)]
        image = {"name": "moot", "image": picture(), "roles": [self.role]}
        self.emoji = str((await self.owner.post(f"{self.path}/emojis", image)).json["id"])
        named = {"channel_id": self.channel, "emoji_id": self.emoji}
        other = {"channel_id": first, "emoji_id": self.emoji}
        option = {"title": "y", "channel_ids": [self.channel], "role_ids": [self.role], "emoji_id": self.emoji}
        tag = {"name": "tag", "emoji_id": self.emoji}
        self.forum = f"/channels/{await guild.channel(type=FORUM)}"
        channels = ("system", "rules", "safety_alerts", "public_updates")
        for method, path, body in (
            ("PATCH", self.forum, {"available_tags": [tag], "default_reaction_emoji": {"emoji_id": self.emoji}}),
            ("PATCH", "/welcome-screen", {"enabled": True, "welcome_channels": [named | _SAID, other | _SAID]}),
            ("PUT", "/onboarding", {"prompts": [{"title": "q", "options": [option]}], "enabled": True}
             | {"default_channel_ids": [self.channel, first, *others]}),
            ("PUT", "/new-member-welcome", {"enabled": True, "new_member_actions": [named | _TITLE, other | _TITLE],
             "resource_channels": [named | _TITLE, other | _TITLE]}),
            ("PATCH", "/widget", {"enabled": True, "channel_id": self.channel}),
            ("PATCH", "", {f"{name}_channel_id": self.channel for name in channels}),
        ):  # fmt: skip
            reply = await self.owner.request(method, path if path == self.forum else self.path + path, body)
            assert reply.status == 200, reply.json
        self.code = (await self.owner.post(f"/channels/{first}/invites", {"role_ids": [self.role]})).json["code"]
        return self

    async def everything(self) -> str:
        """What all of them say, as text."""
        paths = [*(f"{self.path}/{screen}" if screen else self.path for screen in _SCREENS), f"/invites/{self.code}"]
        said = [await self.owner.get(path) for path in (*paths, f"{self.path}/emojis", f"{self.path}/widget.json")]
        assert [reply.status for reply in said] == [200] * len(said)
        return "".join(reply.body.decode() for reply in said)

    async def give_back(self) -> list[Reply]:
        """Every one of them is given what it says; the answers."""
        given = []
        for screen, method in _SCREENS.items():
            path = f"{self.path}/{screen}" if screen else self.path
            told = (await self.owner.get(path)).json
            given.append(await self.owner.request(method, path, told | _flat(told)))
            assert (await self.owner.get(path)).json == told
        return given


_SAID = {"description": "look"}
_TITLE = {"title": "look"}


def _flat(told: dict[str, Any]) -> dict[str, Any]:
    """The emojis of prompts and home channels as requests name them."""

    def flat(item: dict[str, Any]) -> dict[str, Any]:
        emoji = item["emoji"]
        return item | {"emoji_id": emoji["id"], "emoji_name": emoji["name"]}

    prompts = [{**prompt, "options": [*map(flat, prompt["options"])]} for prompt in told.get("prompts", ())]
    lists = {name: [*map(flat, told.get(name, ()))] for name in ("new_member_actions", "resource_channels")}
    return {"prompts": prompts, **lists}


async def test_a_channel_that_is_gone_is_named_nowhere(guild: Guild, owner: Caller) -> None:
    hall = await Hall(guild).furnish(guild)
    assert hall.channel in await hall.everything()
    assert [reply.status for reply in await hall.give_back()] == [200] * len(_SCREENS)
    assert (await owner.delete(f"/channels/{hall.channel}")).status == 200
    assert hall.channel not in await hall.everything()
    assert [reply.status for reply in await hall.give_back()] == [200] * len(_SCREENS)


async def test_a_role_that_is_gone_is_named_nowhere(platform: Platform, guild: Guild, owner: Caller) -> None:
    hall = await Hall(guild).furnish(guild)
    assert (await owner.delete(f"{hall.path}/roles/{hall.role}")).status == 204
    assert hall.role not in await hall.everything()
    assert [reply.status for reply in await hall.give_back()] == [200] * len(_SCREENS)
    newcomer = await platform.person()
    assert (await newcomer.post(f"/invites/{hall.code}", {})).status == 200
    assert (await owner.get(f"{hall.path}/members/{newcomer.id}")).json["roles"] == []


async def test_an_emoji_has_its_present_name_everywhere_and_once_gone_is_named_nowhere(
    guild: Guild, owner: Caller
) -> None:
    hall = await Hall(guild).furnish(guild)
    await owner.patch(f"{hall.path}/emojis/{hall.emoji}", {"name": "gavel"})
    assert '"moot"' not in await hall.everything()
    assert [reply.status for reply in await hall.give_back()] == [200] * len(_SCREENS)
    assert (await owner.delete(f"{hall.path}/emojis/{hall.emoji}")).status == 204
    assert hall.emoji not in await hall.everything()
    assert [reply.status for reply in await hall.give_back()] == [200] * len(_SCREENS)


async def test_a_forum_gets_another_tag_although_the_emoji_of_one_is_gone(guild: Guild, owner: Caller) -> None:
    hall = await Hall(guild).furnish(guild)
    await owner.delete(f"{hall.path}/emojis/{hall.emoji}")
    told = (await owner.get(hall.forum)).json
    another = {"name": "more", "emoji_id": None, "emoji_name": None}
    reply = await owner.patch(hall.forum, {**told, "available_tags": [*told["available_tags"], another]})
    assert (reply.status, [tag["name"] for tag in reply.json["available_tags"]]) == (200, ["tag", "more"])
    fresh = {"available_tags": [{"name": "new", "emoji_id": hall.emoji}]}
    assert (await owner.patch(hall.forum, fresh)).errors_at("available_tags.0.emoji_id") == ["EMOJI_INVALID"]


async def test_what_a_guild_tells_it_takes_back_without_a_word_also_when_it_has_less_than_before(
    platform: Platform, guild: Guild, owner: Caller
) -> None:
    await guild.set(features=sorted(ALL - {"INVITES_DISABLED"}))
    path = f"/guilds/{guild.id}"
    lent: dict[int, dict[str, Any]] = {
        VOICE: {"bitrate": 384_000, "user_limit": 9, "rtc_region": "vip-local", "video_quality_mode": 2},
        STAGE: {"bitrate": 64_000, "user_limit": 10_000, "nsfw": True},
        TEXT: {"topic": "x" * 1024, "rate_limit_per_user": 21_600, "default_auto_archive_duration": 1440},
        FORUM: {"available_tags": [{"name": "a", "emoji_name": "👋"}], "default_forum_layout": 2},
        CATEGORY: {"permission_overwrites": [{"id": str(guild.id), "type": 0, "deny": "2048"}]},
    }
    made = [await owner.post(f"{path}/channels", {"type": kind, "name": "a", **more}) for kind, more in lent.items()]
    colors = {"primary_color": 1, "secondary_color": 2}
    role = await owner.post(f"{path}/roles", {"name": "a", "colors": colors, "unicode_emoji": "👋"})
    assert [reply.status for reply in (*made, role)] == [201] * len(made) + [200]
    places = [*(f"/channels/{reply.json['id']}" for reply in made), f"{path}/roles/{role.json['id']}", path]

    for had in (
        {"premium_tier": 3},
        {"premium_tier": 0, "features": ["COMMUNITY"]},
        {"premium_tier": 0, "features": []},
    ):
        await guild.set(**had)
        with platform.listening() as heard:
            for place in places:
                told = (await owner.get(place)).json
                reply = await owner.patch(place, told)
                assert (reply.status, reply.json) == (200, (await owner.get(place)).json), (place, had)
        assert heard == []


async def test_what_a_guild_has_lost_it_gives_nobody_anew(guild: Guild, owner: Caller) -> None:
    path = f"/guilds/{guild.id}"
    voice, role = await guild.channel(type=VOICE), await guild.role(unicode_emoji="👋")
    await guild.set(premium_tier=0, features=[])
    assert (await owner.patch(f"/channels/{voice}", {"bitrate": 96_001})).errors_at("bitrate") == ["NUMBER_TYPE_MAX"]
    assert (await owner.patch(f"/channels/{voice}", {"rtc_region": "vip-local"})).errors_at("rtc_region")
    assert (await owner.patch(f"{path}/roles/{role}", {"unicode_emoji": "🎲"})).code == 50101
    gradient = {"colors": {"primary_color": 1, "secondary_color": 2}}
    assert (await owner.patch(f"{path}/roles/{role}", gradient)).code == 50101
