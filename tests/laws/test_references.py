"""References to a channel, a role or an emoji: no resource returns one after its deletion.

Also, every resource accepts its own response as a request body, before and after the deletion.
"""

from typing import Any

import pytest

from moothall.objects.features import ALL
from tests.resources.guild.pictures import picture
from tests.support.harness import CATEGORY, FORUM, STAGE, TEXT, VOICE, Caller, Guild, Platform, Reply

_SCREENS = {"welcome-screen": "PATCH", "onboarding": "PUT", "new-member-welcome": "PUT", "widget": "PATCH", "": "PATCH"}
"""The resources that refer to all three, with the method that changes each."""


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("owner")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    paused = {"INVITES_DISABLED", "COMMUNITY", "DISCOVERABLE"}
    return await platform.guild(owner, name="The Hall", features=sorted(ALL - paused), premium_tier=3)


class ReferencingGuild:
    """A guild in which every resource that can refer to a channel, a role and an emoji does."""

    def __init__(self, guild: Guild) -> None:
        self.owner = guild.owner
        self.path = f"/guilds/{guild.id}"

    async def prepare(self, guild: Guild) -> "ReferencingGuild":
        """Create the channel, the role and the emoji, and refer to them everywhere."""
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
            ("PATCH", "/welcome-screen", {"enabled": True, "welcome_channels": [named | _TEXT, other | _TEXT]}),
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

    async def all_bodies(self) -> str:
        """The bodies of all resources."""
        paths = [*(f"{self.path}/{screen}" if screen else self.path for screen in _SCREENS), f"/invites/{self.code}"]
        replies = [await self.owner.get(path) for path in (*paths, f"{self.path}/emojis", f"{self.path}/widget.json")]
        assert [reply.status for reply in replies] == [200] * len(replies)
        return "".join(reply.body.decode() for reply in replies)

    async def send_back(self) -> list[Reply]:
        """Send each resource its own response as the body; returns the replies."""
        replies = []
        for screen, method in _SCREENS.items():
            path = f"{self.path}/{screen}" if screen else self.path
            current = (await self.owner.get(path)).json
            replies.append(await self.owner.request(method, path, current | _flat(current)))
            assert (await self.owner.get(path)).json == current
        return replies


_TEXT = {"description": "look"}
_TITLE = {"title": "look"}


def _flat(response: dict[str, Any]) -> dict[str, Any]:
    """Prompts and home channels with their emojis in the form of requests."""

    def flat(item: dict[str, Any]) -> dict[str, Any]:
        emoji = item["emoji"]
        return item | {"emoji_id": emoji["id"], "emoji_name": emoji["name"]}

    prompts = [{**prompt, "options": [*map(flat, prompt["options"])]} for prompt in response.get("prompts", ())]
    lists = {name: [*map(flat, response.get(name, ()))] for name in ("new_member_actions", "resource_channels")}
    return {"prompts": prompts, **lists}


async def test_no_resource_refers_to_a_deleted_channel(guild: Guild, owner: Caller) -> None:
    referencing = await ReferencingGuild(guild).prepare(guild)
    assert referencing.channel in await referencing.all_bodies()
    assert [reply.status for reply in await referencing.send_back()] == [200] * len(_SCREENS)
    assert (await owner.delete(f"/channels/{referencing.channel}")).status == 200
    assert referencing.channel not in await referencing.all_bodies()
    assert [reply.status for reply in await referencing.send_back()] == [200] * len(_SCREENS)


async def test_no_resource_refers_to_a_deleted_role(platform: Platform, guild: Guild, owner: Caller) -> None:
    referencing = await ReferencingGuild(guild).prepare(guild)
    assert (await owner.delete(f"{referencing.path}/roles/{referencing.role}")).status == 204
    assert referencing.role not in await referencing.all_bodies()
    assert [reply.status for reply in await referencing.send_back()] == [200] * len(_SCREENS)
    newcomer = await platform.person()
    assert (await newcomer.post(f"/invites/{referencing.code}", {})).status == 200
    assert (await owner.get(f"{referencing.path}/members/{newcomer.id}")).json["roles"] == []


async def test_resources_show_an_emojis_current_name_and_none_after_its_deletion(guild: Guild, owner: Caller) -> None:
    referencing = await ReferencingGuild(guild).prepare(guild)
    await owner.patch(f"{referencing.path}/emojis/{referencing.emoji}", {"name": "gavel"})
    assert '"moot"' not in await referencing.all_bodies()
    assert [reply.status for reply in await referencing.send_back()] == [200] * len(_SCREENS)
    assert (await owner.delete(f"{referencing.path}/emojis/{referencing.emoji}")).status == 204
    assert referencing.emoji not in await referencing.all_bodies()
    assert [reply.status for reply in await referencing.send_back()] == [200] * len(_SCREENS)


async def test_a_tag_can_be_added_while_another_tag_has_a_deleted_emoji(guild: Guild, owner: Caller) -> None:
    referencing = await ReferencingGuild(guild).prepare(guild)
    await owner.delete(f"{referencing.path}/emojis/{referencing.emoji}")
    forum = (await owner.get(referencing.forum)).json
    another = {"name": "more", "emoji_id": None, "emoji_name": None}
    reply = await owner.patch(referencing.forum, {**forum, "available_tags": [*forum["available_tags"], another]})
    assert (reply.status, [tag["name"] for tag in reply.json["available_tags"]]) == (200, ["tag", "more"])
    fresh = {"available_tags": [{"name": "new", "emoji_id": referencing.emoji}]}
    assert (await owner.patch(referencing.forum, fresh)).errors_at("available_tags.0.emoji_id") == ["EMOJI_INVALID"]


async def test_resources_accept_their_own_responses_also_after_features_were_lost(
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
    paths = [*(f"/channels/{reply.json['id']}" for reply in made), f"{path}/roles/{role.json['id']}", path]

    for had in (
        {"premium_tier": 3},
        {"premium_tier": 0, "features": ["COMMUNITY"]},
        {"premium_tier": 0, "features": []},
    ):
        await guild.set(**had)
        with platform.listening() as heard:
            for resource_path in paths:
                body = (await owner.get(resource_path)).json
                reply = await owner.patch(resource_path, body)
                assert (reply.status, reply.json) == (200, (await owner.get(resource_path)).json), (resource_path, had)
        assert heard == []


async def test_lost_features_cannot_be_used_anew(guild: Guild, owner: Caller) -> None:
    path = f"/guilds/{guild.id}"
    voice, role = await guild.channel(type=VOICE), await guild.role(unicode_emoji="👋")
    await guild.set(premium_tier=0, features=[])
    assert (await owner.patch(f"/channels/{voice}", {"bitrate": 96_001})).errors_at("bitrate") == ["NUMBER_TYPE_MAX"]
    assert (await owner.patch(f"/channels/{voice}", {"rtc_region": "vip-local"})).errors_at("rtc_region")
    assert (await owner.patch(f"{path}/roles/{role}", {"unicode_emoji": "🎲"})).code == 50101
    gradient = {"colors": {"primary_color": 1, "secondary_color": 2}}
    assert (await owner.patch(f"{path}/roles/{role}", gradient)).code == 50101
