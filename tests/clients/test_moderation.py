"""What moderators and their bots do through discord.py: roles, channels, members, invites, and the audit log of it."""

import datetime as dt
from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Harbour, soon, until
from tests.clients.live import PIXEL, Refused, World

Action = discord.AuditLogAction


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


async def entries(harbour: Harbour, count: int) -> list[discord.AuditLogEntry]:
    """The newest entries of the guild's audit log, oldest first."""
    return [entry async for entry in harbour.guild.audit_logs(limit=count)][::-1]


async def test_a_role_is_made_changed_and_deleted_with_a_trace_of_each(harbour: Harbour) -> None:
    guild = harbour.guild
    created, updated, deleted = (soon(harbour.client, f"guild_role_{verb}") for verb in ("create", "update", "delete"))
    role = await guild.create_role(
        name="Pilot",
        colour=discord.Colour(0x3366FF),
        hoist=True,
        mentionable=True,
        permissions=discord.Permissions(kick_members=True),
        reason="we need pilots",
    )
    assert await created == role
    assert guild.get_role(role.id) == role
    await role.edit(
        name="Chief pilot", colour=discord.Colour.red(), permissions=discord.Permissions.none(), reason="all of them"
    )
    before, after = await updated
    assert (before.name, after.name, after.colour) == ("Pilot", "Chief pilot", discord.Colour.red())
    assert after.permissions == discord.Permissions.none()
    await role.delete(reason="enough")
    assert (await deleted).id == role.id
    assert guild.get_role(role.id) is None
    made, changed, removed = await entries(harbour, 3)
    assert [entry.action for entry in (made, changed, removed)] == [
        Action.role_create,
        Action.role_update,
        Action.role_delete,
    ]
    assert [entry.reason for entry in (made, changed, removed)] == ["we need pilots", "all of them", "enough"]
    assert {entry.user_id for entry in (made, changed, removed)} == {harbour.bot.id}
    assert made.after.name == "Pilot"
    assert made.after.hoist
    assert made.after.permissions == discord.Permissions(kick_members=True)
    assert (changed.before.name, changed.after.name) == ("Pilot", "Chief pilot")
    assert (changed.before.colour, changed.after.colour) == (discord.Colour(0x3366FF), discord.Colour.red())
    assert removed.before.name == "Chief pilot"


async def test_roles_take_the_places_that_they_are_moved_to(harbour: Harbour) -> None:
    guild = harbour.guild
    own = guild.self_role
    assert own is not None
    await harbour.owner.patch(f"/guilds/{guild.id}/roles", [{"id": str(own.id), "position": 5}])
    first, second, third = [await guild.create_role(name=name) for name in ("a", "b", "c")]
    await guild.edit_role_positions({first: 3, second: 2, third: 1}, reason="by rank")
    await until(lambda: [role.name for role in guild.roles[1:-1]] == ["c", "b", "a"])
    assert guild.roles[-1] == own
    await third.move(below=first)
    await until(lambda: [role.name for role in guild.roles[1:-1]] == ["b", "a", "c"])
    assert sorted(await guild.fetch_roles()) == sorted(guild.roles)


async def test_channels_of_every_kind_are_made_changed_and_deleted(harbour: Harbour) -> None:
    guild = harbour.guild
    docks = await guild.create_category("Docks", reason="somewhere to lie")
    berths = await guild.create_text_channel("berths", category=docks, topic="Who lies where", slowmode_delay=10)
    radio = await docks.create_voice_channel("Radio", bitrate=48_000, user_limit=4)
    await until(lambda: docks.channels == [berths, radio])
    assert (berths.topic, berths.slowmode_delay, berths.category) == ("Who lies where", 10, docks)
    updated = soon(harbour.client, "guild_channel_update", lambda _, after: after.id == berths.id)
    await berths.edit(name="moorings", topic="Elsewhere", nsfw=True, category=None, reason="storm")
    before, after = await updated
    assert (before.name, after.name, after.topic, after.nsfw, after.category) == (
        "berths",
        "moorings",
        "Elsewhere",
        True,
        None,
    )
    await radio.edit(user_limit=0, bitrate=64_000)
    deleted = soon(harbour.client, "guild_channel_delete")
    await radio.delete(reason="silence")
    assert await deleted == radio
    assert guild.get_channel(radio.id) is None
    log = await entries(harbour, 6)
    assert [entry.action for entry in log] == [Action.channel_create] * 3 + [Action.channel_update] * 2 + [
        Action.channel_delete
    ]
    assert [entry.reason for entry in log] == ["somewhere to lie", None, None, "storm", None, "silence"]
    assert (log[3].before.name, log[3].after.name) == ("berths", "moorings")
    assert log[5].before.name == "Radio"


async def test_channels_take_the_places_that_they_are_moved_to(harbour: Harbour) -> None:
    guild = harbour.guild
    docks = await guild.create_category("Docks")
    names = ["one", "two", "three"]
    one, two, three = [await guild.create_text_channel(name, category=docks) for name in names]
    await until(lambda: docks.channels == [one, two, three])
    await three.move(beginning=True)
    await until(lambda: docks.channels == [three, one, two])
    await one.move(end=True)
    await until(lambda: docks.channels == [three, two, one])
    await two.edit(position=0)
    await until(lambda: docks.channels[0] in {two, three})
    await three.move(category=None, end=True)
    await until(lambda: three.category is None and set(docks.channels) == {one, two})


async def test_overwrites_are_set_read_and_taken_away(harbour: Harbour) -> None:
    guild, channel = harbour.guild, harbour.channel
    role = await guild.create_role(name="Deaf")
    member = guild.get_member(harbour.owner.id)
    assert member is not None
    await channel.set_permissions(role, send_messages=False, view_channel=True, reason="hush")
    await channel.set_permissions(member, overwrite=discord.PermissionOverwrite(manage_messages=True))
    await until(lambda: len(channel.overwrites) == 2)
    assert channel.overwrites_for(role) == discord.PermissionOverwrite(send_messages=False, view_channel=True)
    assert channel.overwrites_for(member) == discord.PermissionOverwrite(manage_messages=True)
    await channel.set_permissions(role, send_messages=True)
    await until(lambda: channel.overwrites_for(role).send_messages is True)
    await channel.set_permissions(role, overwrite=None, reason="speak")
    await until(lambda: list(channel.overwrites) == [member])
    log = await entries(harbour, 4)
    assert [entry.action for entry in log] == [
        Action.overwrite_create,
        Action.overwrite_create,
        Action.overwrite_update,
        Action.overwrite_delete,
    ]
    assert [entry.reason for entry in log] == ["hush", None, None, "speak"]
    assert log[1].extra == member
    private = await guild.create_text_channel(
        "private", overwrites={guild.default_role: discord.PermissionOverwrite(view_channel=False)}
    )
    assert private.overwrites_for(guild.default_role).view_channel is False
    assert not private.permissions_for(guild.default_role).view_channel


async def test_members_are_named_given_roles_and_silenced(harbour: Harbour) -> None:
    guest = await harbour.guest()
    member = harbour.guild.get_member(guest.id)
    assert member is not None
    pilot, mate = [await harbour.guild.create_role(name=name) for name in ("Pilot", "Mate")]
    updated = soon(harbour.client, "member_update", lambda _, after: after.nick == "Skipper")
    await member.edit(nick="Skipper", reason="aye")
    before, _ = await updated
    assert before.nick is None
    await member.add_roles(pilot, mate, reason="promoted")
    await until(lambda: set(member.roles) == {harbour.guild.default_role, pilot, mate})
    await member.remove_roles(pilot)
    await until(lambda: set(member.roles) == {harbour.guild.default_role, mate})
    await member.add_roles(pilot, mate, atomic=False)
    await until(lambda: pilot in member.roles)
    await member.edit(roles=[])
    await until(lambda: member.roles == [harbour.guild.default_role])
    await member.timeout(dt.timedelta(minutes=5), reason="calm down")
    await until(member.is_timed_out)
    with pytest.raises(Refused) as refused:
        await guest.say(harbour.channel.id, "but")
    assert refused.value.code == 50013
    await member.timeout(None)
    await until(lambda: not member.is_timed_out())
    log = [entry for entry in await entries(harbour, 10) if entry.target == member]
    assert [entry.action for entry in log if entry.reason is not None] == [
        Action.member_update,
        Action.member_role_update,
        Action.member_role_update,
        Action.member_update,
    ]
    assert log[0].after.nick == "Skipper"
    assert set(log[1].after.roles) <= {pilot, mate}
    assert (await harbour.guild.fetch_member(guest.id)).timed_out_until is None


async def test_a_bot_changes_its_own_nickname(harbour: Harbour) -> None:
    await harbour.guild.me.edit(nick="Harbour master")
    await until(lambda: harbour.guild.me.display_name == "Harbour master")
    await harbour.guild.me.edit(nick=None)
    await until(lambda: harbour.guild.me.nick is None)


async def test_members_are_kicked_banned_and_unbanned(harbour: Harbour) -> None:
    kicked, banned = await harbour.guest(), await harbour.guest()
    guild = harbour.guild
    left = soon(harbour.client, "member_remove")
    await guild.kick(discord.Object(kicked.id), reason="mutiny")
    assert (await left).id == kicked.id
    await banned.say(harbour.channel.id, "arr")
    heard = soon(harbour.client, "member_ban")
    await guild.ban(discord.Object(banned.id), reason="piracy", delete_message_seconds=3600)
    _, user = await heard
    assert user.id == banned.id
    assert [message async for message in harbour.channel.history()] == []
    (entry,) = [entry async for entry in guild.bans()]
    assert (entry.user.id, entry.reason) == (banned.id, "piracy")
    assert (await guild.fetch_ban(discord.Object(banned.id))).reason == "piracy"
    unheard = soon(harbour.client, "member_unban")
    await guild.unban(entry.user, reason="amnesty")
    assert (await unheard)[1].id == banned.id
    with pytest.raises(discord.NotFound) as missing:
        await guild.fetch_ban(entry.user)
    assert missing.value.code == 10026
    log = await entries(harbour, 3)
    assert [entry.action for entry in log] == [Action.kick, Action.ban, Action.unban]
    assert [entry.reason for entry in log] == ["mutiny", "piracy", "amnesty"]
    assert [entry.target.id for entry in log if entry.target is not None] == [kicked.id, banned.id, banned.id]
    result = await guild.bulk_ban([discord.Object(banned.id), discord.Object(kicked.id)])
    assert {user.id for user in result.banned} == {banned.id, kicked.id}


async def test_a_guild_is_edited(harbour: Harbour) -> None:
    guild = harbour.guild
    updated = soon(harbour.client, "guild_update")
    edited = await guild.edit(
        name="New harbour",
        icon=PIXEL,
        verification_level=discord.VerificationLevel.high,
        default_notifications=discord.NotificationLevel.only_mentions,
        afk_timeout=60,
        system_channel=harbour.channel,
        system_channel_flags=discord.SystemChannelFlags(join_notifications=False),
        preferred_locale=discord.Locale.german,
        reason="refitted",
    )
    before, after = await updated
    assert (before.name, after.name) == ("Guild", "New harbour")
    assert edited.verification_level is after.verification_level is discord.VerificationLevel.high
    assert (after.afk_timeout, after.system_channel) == (60, harbour.channel)
    assert not after.system_channel_flags.join_notifications
    assert after.preferred_locale is discord.Locale.german
    assert after.icon is not None
    assert (await after.icon.with_format("png").read()).startswith(b"\x89PNG")
    (entry,) = await entries(harbour, 1)
    assert (entry.action, entry.reason, entry.after.name) == (Action.guild_update, "refitted", "New harbour")
    with_counts = await harbour.client.fetch_guild(guild.id)
    assert with_counts.approximate_member_count == 2
    assert with_counts.approximate_presence_count == 1


async def test_invites_are_made_read_listed_and_deleted(harbour: Harbour) -> None:
    created = soon(harbour.client, "invite_create")
    invite = await harbour.channel.create_invite(max_age=3600, max_uses=2, reason="open day")
    assert (await created).code == invite.code
    assert (invite.max_age, invite.max_uses, invite.uses, invite.temporary) == (3600, 2, 0, False)
    assert invite.inviter is not None
    assert invite.inviter.id == harbour.bot.id
    fetched = await harbour.client.fetch_invite(invite.code, with_counts=True)
    assert fetched.guild is not None
    assert (fetched.guild.id, fetched.approximate_member_count) == (harbour.guild.id, 2)
    guest = await harbour.world.person("visitor")
    joined = soon(harbour.client, "member_join")
    await guest.post(f"/invites/{invite.code}", {})
    assert (await joined).id == guest.id
    (listed,) = await harbour.guild.invites()
    assert (listed.code, listed.uses, listed.channel) == (invite.code, 1, harbour.channel)
    assert [listed_invite.code for listed_invite in await harbour.channel.invites()] == [invite.code]
    deleted = soon(harbour.client, "invite_delete")
    await invite.delete(reason="closed")
    assert (await deleted).code == invite.code
    with pytest.raises(discord.NotFound) as missing:
        await harbour.client.fetch_invite(invite.code)
    assert missing.value.code == 10006
    log = await entries(harbour, 2)
    assert [entry.action for entry in log] == [Action.invite_create, Action.invite_delete]
    assert [entry.reason for entry in log] == ["open day", "closed"]


async def test_audit_log_entries_are_announced_as_they_are_made(harbour: Harbour) -> None:
    heard = soon(harbour.client, "audit_log_entry_create")
    role = await harbour.guild.create_role(name="Seen", reason="look")
    entry = await heard
    assert (entry.action, entry.reason, entry.user_id, entry.target) == (
        Action.role_create,
        "look",
        harbour.bot.id,
        role,
    )
    listed = [entry async for entry in harbour.guild.audit_logs(action=Action.role_create, user=harbour.guild.me)]
    assert [listed_entry.id for listed_entry in listed] == [entry.id]
    assert [e.id async for e in harbour.guild.audit_logs(oldest_first=True, limit=None)][-1] == entry.id


async def test_members_are_pruned_and_estimated(harbour: Harbour) -> None:
    assert await harbour.guild.estimate_pruned_members(days=7) == 0
    assert await harbour.guild.prune_members(days=7, reason="tidy") == 0


async def test_a_bot_leaves_a_guild(harbour: Harbour) -> None:
    removed = soon(harbour.client, "guild_remove")
    await harbour.guild.leave()
    assert await removed == harbour.guild
    assert not harbour.client.guilds


async def test_a_rule_blocks_a_message_and_its_execution_is_heard(harbour: Harbour) -> None:
    alerts = await harbour.guild.create_text_channel("alerts")
    created, executed = soon(harbour.client, "automod_rule_create"), soon(harbour.client, "automod_action")
    rule = await harbour.guild.create_automod_rule(
        name="No sirens",
        event_type=discord.AutoModRuleEventType.message_send,
        trigger=discord.AutoModTrigger(keyword_filter=["siren*"], regex_patterns=["^ahoy.{0,9}!$"]),
        actions=[
            discord.AutoModRuleAction(custom_message="Mind the rocks."),
            discord.AutoModRuleAction(channel_id=alerts.id),
        ],
        enabled=True,
        reason="they sing",
    )
    assert (await created).id == rule.id
    assert [each.name for each in await harbour.guild.fetch_automod_rules()] == ["No sirens"]
    guest = await harbour.guest()
    with pytest.raises(Refused) as refused:
        await guest.say(harbour.channel.id, "Listen to the SIRENS")
    assert refused.value.code == 200000
    execution = await executed
    assert (execution.rule_id, execution.user_id, execution.channel_id) == (rule.id, guest.id, harbour.channel.id)
    assert (execution.matched_keyword, execution.matched_content) == ("siren*", "SIREN")
    assert execution.content == "Listen to the SIRENS"
    (alert,) = [message async for message in alerts.history()]
    assert (alert.type, alert.author.id) == (discord.MessageType.auto_moderation_action, guest.id)
    await guest.say(harbour.channel.id, "ahoy")
    edited = await rule.edit(trigger=discord.AutoModTrigger(keyword_filter=["kraken"]))
    assert edited.trigger.keyword_filter == ["kraken"]
    log = [entry for entry in await entries(harbour, 10) if entry.action.name.startswith("automod")]
    assert [entry.action for entry in log] == [
        Action.automod_rule_create,
        Action.automod_block_message,
        Action.automod_flag_message,
        Action.automod_rule_update,
    ]
    assert log[0].reason == "they sing"
    assert log[0].after.trigger.keyword_filter == ["siren*"]
    assert getattr(log[1].extra, "automod_rule_name", None) == "No sirens"
    assert log[3].after.trigger.keyword_filter == ["kraken"]
    await rule.delete()
    assert await harbour.guild.fetch_automod_rules() == []
