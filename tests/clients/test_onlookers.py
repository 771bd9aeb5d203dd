"""What is left that discord.py has a method for: previews, pages of members, voice states, answers, group invites."""

from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Harbour, until
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


async def test_a_guild_is_previewed_with_its_counts(harbour: Harbour) -> None:
    preview = await harbour.client.fetch_guild_preview(harbour.guild.id)
    assert (preview.id, preview.name) == (harbour.guild.id, harbour.guild.name)
    assert (preview.approximate_member_count, preview.approximate_presence_count) == (2, 1)
    outside = await harbour.world.guild(harbour.owner)
    with pytest.raises(discord.NotFound) as refused:
        await harbour.client.fetch_guild_preview(outside)
    assert refused.value.code == 10004


async def test_members_are_paged_fetched_and_searched(harbour: Harbour) -> None:
    guests = [await harbour.guest() for _ in range(3)]
    # discord.py turns each page around.
    listed = sorted([member.id async for member in harbour.guild.fetch_members(limit=None)])
    assert listed == sorted([harbour.owner.id, harbour.bot.id, *(guest.id for guest in guests)])
    later = [member.id async for member in harbour.guild.fetch_members(after=discord.Object(listed[1]), limit=2)]
    assert later[::-1] == listed[2:4]
    assert (await harbour.guild.fetch_member(guests[0].id)).name == guests[0].name
    matches = await harbour.guild.query_members(guests[1].name.upper())
    assert [member.id for member in matches] == [guests[1].id]


async def test_a_voice_state_is_fetched_while_there_is_one(harbour: Harbour) -> None:
    room = await harbour.guild.create_voice_channel("Talk")
    await until(lambda: harbour.guild.get_channel(room.id) is not None)
    me = harbour.guild.me
    with pytest.raises(discord.NotFound) as refused:
        await me.fetch_voice()
    assert refused.value.code == 10065
    await harbour.guild.change_voice_state(channel=room, self_mute=True)
    await until(lambda: me.voice is not None)
    state = await me.fetch_voice()
    assert state.channel == room
    assert state.self_mute
    await me.move_to(None)
    await until(lambda: me.voice is None)


async def test_a_bot_hears_in_its_cache_what_answering_onboarding_gave_a_member(harbour: Harbour) -> None:
    guild, guest = harbour.guild, await harbour.guest()
    role = await guild.create_role(name="Chess")
    rooms: list[discord.abc.Snowflake] = [await guild.create_text_channel(f"room-{n}") for n in range(7)]
    made = await guild.edit_onboarding(
        prompts=[
            discord.OnboardingPrompt(
                type=discord.OnboardingPromptType.multiple_choice,
                title="What do you play?",
                required=True,
                options=[discord.OnboardingPromptOption(title="Chess", roles=[role], description="")],
            )
        ],
        default_channels=rooms,
        enabled=True,
    )
    chosen = [str(made.prompts[0].options[0].id)]
    await guest.post(f"/guilds/{guild.id}/onboarding-responses", {"onboarding_responses": chosen})
    member = guild.get_member(guest.id)
    assert member is not None
    await until(lambda: role in member.roles)
    assert member.flags.started_onboarding
    assert member.flags.completed_onboarding


async def test_a_group_invite_is_read_as_one(harbour: Harbour) -> None:
    friends = [await harbour.guest() for _ in range(2)]
    group = await harbour.owner.post("/users/@me/channels", {"recipients": [str(friend.id) for friend in friends]})
    made = await harbour.owner.post(f"/channels/{group['id']}/invites", {})
    invite = await harbour.client.fetch_invite(made["code"])
    assert invite.type is discord.InviteType.group_dm
    assert invite.guild is None
    assert invite.channel is not None
    assert invite.channel.id == int(group["id"])
