"""What greets, asks and counts people, through discord.py: welcome screen, onboarding, widget, pauses, vanity code."""

import asyncio
import datetime as dt
import sys
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


async def test_a_welcome_screen_is_made_shown_and_switched_off(harbour: Harbour) -> None:
    guild = harbour.guild
    screen = await guild.edit_welcome_screen(
        description="Be welcome.",
        welcome_channels=[discord.WelcomeChannel(channel=harbour.channel, description="Say hello", emoji="👋")],
        enabled=True,
    )
    await until(lambda: "WELCOME_SCREEN_ENABLED" in guild.features)
    screen = await guild.welcome_screen()
    assert (screen.description, screen.enabled) == ("Be welcome.", True)
    (channel,) = screen.welcome_channels
    assert (channel.channel, channel.description, str(channel.emoji)) == (harbour.channel, "Say hello", "👋")
    await screen.edit(enabled=False)
    await until(lambda: "WELCOME_SCREEN_ENABLED" not in guild.features)


async def test_onboarding_is_made_and_changed(harbour: Harbour) -> None:
    guild = harbour.guild
    role = await guild.create_role(name="Chess")
    channels: list[discord.abc.Snowflake] = [await guild.create_text_channel(f"room-{n}") for n in range(7)]
    await until(lambda: all(guild.get_channel(channel.id) for channel in channels))
    made = await guild.edit_onboarding(
        prompts=[
            discord.OnboardingPrompt(
                type=discord.OnboardingPromptType.multiple_choice,
                title="What do you play?",
                options=[
                    discord.OnboardingPromptOption(title="Chess", roles=[role], emoji="♟️", description="Quietly"),
                    discord.OnboardingPromptOption(title="Go", channels=[channels[0]]),
                ],
            )
        ],
        default_channels=channels,
        enabled=True,
        mode=discord.OnboardingMode.default,
        reason="curious",
    )
    onboarding = await guild.onboarding()
    assert onboarding.enabled
    assert {channel.id for channel in onboarding.default_channels} == {channel.id for channel in channels}
    (prompt,) = onboarding.prompts
    assert prompt.id == made.prompts[0].id
    chess, go = prompt.options
    assert (chess.title, chess.description, str(chess.emoji), chess.roles) == ("Chess", "Quietly", "♟️", [role])
    assert (go.emoji, [c.id for c in go.channels]) == (None, [channels[0].id])
    kinds = [entry.action for entry in [entry async for entry in guild.audit_logs(limit=2)]]
    assert set(kinds) == {discord.AuditLogAction.onboarding_create, discord.AuditLogAction.onboarding_prompt_create}


async def test_a_widget_is_switched_on_and_tells_who_is_here(harbour: Harbour) -> None:
    guild = harbour.guild
    await guild.create_voice_channel("Talk")
    await guild.edit_widget(enabled=True, channel=harbour.channel, reason="come in")
    await until(lambda: guild.widget_enabled)
    assert guild.widget_channel == harbour.channel
    widget = await guild.widget()
    assert (widget.id, widget.name) == (guild.id, guild.name)
    assert "Talk" in [channel.name for channel in widget.channels]
    assert [member.name for member in widget.members] == [harbour.client.user.name]  # type: ignore[union-attr]
    assert widget.invite_url is not None
    invite = await harbour.client.fetch_invite(widget.invite_url.rpartition("/")[2])
    assert invite.channel is not None
    assert invite.channel.id == harbour.channel.id
    asset = await harbour.client.http.get_from_cdn(f"{harbour.world.server.url}/api/v10/guilds/{guild.id}/widget.png")
    assert asset.startswith(b"\x89PNG")


async def test_invites_and_direct_messages_are_paused_for_a_while(harbour: Harbour) -> None:
    guild, until_then = harbour.guild, discord.utils.utcnow() + dt.timedelta(hours=2)
    edited = await guild.edit(invites_disabled_until=until_then, dms_disabled_until=until_then)
    assert edited.invites_paused()
    assert edited.dms_paused()
    assert edited.invites_paused_until is not None
    assert abs(edited.invites_paused_until - until_then) < dt.timedelta(seconds=1)
    edited = await guild.edit(invites_disabled_until=None)  # type: ignore[arg-type]  # its documentation allows None
    assert not edited.invites_paused()
    assert edited.dms_paused()


async def test_a_guild_with_the_feature_has_an_invite_code_of_its_own(harbour: Harbour) -> None:
    guild = harbour.guild
    server = harbour.world.server
    command = [sys.executable, "-m", "moothall", "guild", "features", str(guild.id), "--add", "VANITY_URL"]
    process = await asyncio.create_subprocess_exec(*command, "--data", str(server.data))
    assert await process.wait() == 0
    await until(lambda: "VANITY_URL" in guild.features)
    await guild.edit(vanity_code="harbour", reason="short")
    await until(lambda: guild.vanity_url_code == "harbour")
    invite = await guild.vanity_invite()
    assert invite is not None
    assert (invite.code, invite.uses) == ("harbour", 0)
