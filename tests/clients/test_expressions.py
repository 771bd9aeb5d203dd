"""Emojis, stickers and sounds through discord.py."""

import base64
import io
from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Client, Harbour, online, soon, until
from tests.clients.live import World
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3
from tests.resources.sticker.sticker_files import film, still


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


def image(kind: str = "PNG", *, frames: int = 1) -> bytes:
    """The bytes of a picture."""
    return base64.b64decode(picture(kind, frames=frames).partition(",")[2])


async def kinds_of(guild: discord.Guild) -> list[discord.AuditLogAction]:
    """What the audit log tells, newest first."""
    return [entry.action async for entry in guild.audit_logs(limit=3)]


async def test_emojis_are_made_changed_used_and_removed(harbour: Harbour) -> None:
    guild, client = harbour.guild, harbour.client
    role = await guild.create_role(name="crew")
    heard = soon(client, "guild_emojis_update", lambda _, __, after: len(after) == 1)
    emoji = await guild.create_custom_emoji(name="moot", image=image(), roles=[role], reason="feast")
    _, before, after = await heard
    assert (list(before), [e.id for e in after]) == ([], [emoji.id])
    assert (emoji.name, emoji.animated, emoji.available, emoji.roles) == ("moot", False, True, [role])
    assert (await emoji.read()).startswith(b"\x89PNG")
    moving = await guild.create_custom_emoji(name="wave", image=image("GIF", frames=3))
    assert moving.animated
    assert b"ANIM" in await moving.read()
    assert [e.id for e in await guild.fetch_emojis()] == [emoji.id, moving.id]
    edited = await emoji.edit(name="hall", roles=[], reason="shorter")
    assert (edited.name, edited.roles) == ("hall", [])
    fetched = await guild.fetch_emoji(emoji.id)
    assert (fetched.name, fetched.user) == ("hall", client.user)
    await until(lambda: (kept := client.get_emoji(emoji.id)) is not None and kept.name == "hall")
    message = await harbour.channel.send(f"look: {moving}")
    await message.add_reaction(moving)
    reaction = (await harbour.channel.fetch_message(message.id)).reactions[0]
    assert reaction.emoji == moving
    await guild.delete_emoji(moving, reason="done")
    await until(lambda: [e.id for e in guild.emojis] == [emoji.id])
    action = discord.AuditLogAction
    assert await kinds_of(guild) == [action.emoji_delete, action.emoji_update, action.emoji_create]
    await fetched.delete()
    await until(lambda: not guild.emojis)
    with pytest.raises(discord.NotFound):
        await guild.fetch_emoji(emoji.id)
    assert guild.emoji_limit >= 50


async def test_an_application_has_emojis_of_its_own(harbour: Harbour) -> None:
    client = harbour.client
    emoji = await client.create_application_emoji(name="anchor", image=image("WEBP"))
    assert (emoji.name, emoji.is_application_owned(), emoji.user) == ("anchor", True, client.user)
    assert (await emoji.read()).startswith(b"\x89PNG")
    assert [e.id for e in await client.fetch_application_emojis()] == [emoji.id]
    renamed = await emoji.edit(name="buoy")
    assert (await client.fetch_application_emoji(emoji.id)).name == renamed.name == "buoy"
    message = await harbour.channel.send("ahoy")
    await message.add_reaction(emoji)
    await emoji.delete()
    assert await client.fetch_application_emojis() == []


async def test_stickers_are_made_sent_changed_and_removed(harbour: Harbour) -> None:
    guild, client = harbour.guild, harbour.client
    heard = soon(client, "guild_stickers_update", lambda _, __, after: len(after) == 1)
    sticker = await guild.create_sticker(
        name="Moot", description="", emoji="🎉", file=discord.File(io.BytesIO(still()), "moot.png"), reason="feast"
    )
    await heard
    assert (sticker.name, sticker.description, sticker.format) == ("Moot", "", discord.StickerFormatType.png)
    assert sticker.available
    assert await sticker.read() == still()
    moving = await guild.create_sticker(
        name="Wave", description="It moves", emoji="👋", file=discord.File(io.BytesIO(film(5)), "wave.png")
    )
    assert moving.format is discord.StickerFormatType.apng
    assert [(s.id, s.user) for s in await guild.fetch_stickers()] == [
        (sticker.id, client.user),
        (moving.id, client.user),
    ]
    message = await harbour.channel.send(stickers=[sticker, moving])
    assert [item.id for item in message.stickers] == [sticker.id, moving.id]
    whole = await message.stickers[0].fetch()
    assert isinstance(whole, discord.GuildSticker)
    assert whole.guild == guild
    edited = await sticker.edit(name="Hall", description="A hall", reason="better")
    assert (edited.name, edited.description) == ("Hall", "A hall")
    assert (await guild.fetch_sticker(sticker.id)).name == "Hall"
    await until(lambda: (kept := client.get_sticker(sticker.id)) is not None and kept.name == "Hall")
    await guild.delete_sticker(moving)
    await until(lambda: [s.id for s in guild.stickers] == [sticker.id])
    action = discord.AuditLogAction
    assert await kinds_of(guild) == [action.sticker_delete, action.sticker_update, action.sticker_create]
    await edited.delete()
    await until(lambda: not guild.stickers)


async def test_everybody_has_the_packs(harbour: Harbour) -> None:
    (pack,) = await harbour.client.fetch_premium_sticker_packs()
    assert (await harbour.client.fetch_premium_sticker_pack(pack.id)).name == pack.name
    smile = pack.stickers[0]
    fetched = await harbour.client.fetch_sticker(smile.id)
    assert isinstance(fetched, discord.StandardSticker)
    assert (await fetched.read()).startswith(b"\x89PNG")
    message = await harbour.channel.send("hello", stickers=[smile])  # type: ignore[list-item]  # any sticker will do
    assert [item.name for item in message.stickers] == [smile.name]


async def test_sounds_are_made_played_changed_and_removed(harbour: Harbour) -> None:
    guild, client = harbour.guild, harbour.client
    voice = await guild.create_voice_channel("Talk")
    emoji = await guild.create_custom_emoji(name="moot", image=image())
    heard = soon(client, "soundboard_sound_create")
    sound = await guild.create_soundboard_sound(name="gong", sound=mp3(1), volume=0.5, emoji="🔔", reason="dinner")
    made = await heard
    assert (made, sound.volume, str(sound.emoji), sound.user) == (sound, 0.5, "🔔", client.user)
    assert guild.get_soundboard_sound(sound.id) == sound
    assert await sound.read() == mp3(1)
    assert [s.id for s in await guild.fetch_soundboard_sounds()] == [sound.id]
    changed = soon(client, "soundboard_sound_update")
    await sound.edit(name="bell", volume=1, emoji=emoji, reason="louder")
    before, after = await changed
    assert (before.name, after.name, after.volume) == ("gong", "bell", 1)
    fetched = await guild.fetch_soundboard_sound(sound.id)
    assert fetched.emoji is not None
    assert (fetched.name, fetched.emoji.id) == ("bell", emoji.id)

    await guild.change_voice_state(channel=voice)
    await until(lambda: guild.me.voice is not None)
    effect = soon(client, "voice_channel_effect")
    await voice.send_sound(sound)
    played = await effect
    assert (played.channel, played.user.id, played.is_sound()) == (voice, client.user.id, True)  # type: ignore[union-attr]
    assert (played.sound.id, played.sound.volume, played.emoji.id) == (sound.id, 1.0, emoji.id)
    defaults = await client.fetch_soundboard_default_sounds()
    assert (await defaults[0].read()).startswith(b"OggS")
    effect = soon(client, "voice_channel_effect")
    await voice.send_sound(defaults[0])
    assert (await effect).sound.id == defaults[0].id

    several = soon(client, "soundboard_sound_update")
    await emoji.delete()
    _, without = await several
    assert without.emoji is None
    deleted = soon(client, "soundboard_sound_delete")
    await sound.delete(reason="enough")
    assert (await deleted).id == sound.id
    assert (await kinds_of(guild))[0] is discord.AuditLogAction.soundboard_sound_delete


async def test_who_logs_in_later_knows_them_all(harbour: Harbour) -> None:
    guild = harbour.guild
    emoji = await guild.create_custom_emoji(name="moot", image=image())
    sticker = await guild.create_sticker(
        name="Moot", description="x y", emoji="🎉", file=discord.File(io.BytesIO(still()), "moot.png")
    )
    sound = await guild.create_soundboard_sound(name="gong", sound=mp3(1), emoji=emoji)
    second = await harbour.world.bot(harbour.owner, guild.id)
    async with online(Client(), second) as client:
        late = client.get_guild(guild.id)
        assert late is not None
        assert ([e.id for e in late.emojis], [s.id for s in late.stickers]) == ([emoji.id], [sticker.id])
        assert [s.id for s in late.soundboard_sounds] == [sound.id]
        requested = await late.fetch_soundboard_sounds()
        assert [s.id for s in requested] == [sound.id]
