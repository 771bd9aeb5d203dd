"""What is done to a guild's sounds, and with them."""

from collections.abc import Iterable

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel_types import VOICE
from moothall.objects.emoji import PartialEmoji
from moothall.objects.emoji_choice import choose_emoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.expressions import rate_sounds, sound_limit
from moothall.objects.guild import Guild
from moothall.objects.ids import EmojiId, SoundId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.text import clean_name
from moothall.resources.emoji.rules import require_may_change, sees_creators
from moothall.resources.member.queries import get_member
from moothall.resources.soundboard import queries
from moothall.resources.soundboard.defaults import DEFAULT_SOUNDS
from moothall.resources.soundboard.events import (
    GuildSoundboardSoundCreate,
    GuildSoundboardSoundDelete,
    GuildSoundboardSoundsUpdate,
    GuildSoundboardSoundUpdate,
    VoiceChannelEffectSend,
)
from moothall.resources.soundboard.requests import (
    CreateGuildSoundboardSound,
    ModifyGuildSoundboardSound,
    SendSoundboardSound,
)
from moothall.resources.user.queries import get_user, get_users
from moothall.resources.voice.queries import get_voice_state, select_states_in_channel

_AUDITED = ("name", "volume", "emoji_id", "emoji_name", "sound_id")
_LOUD = 1.0


async def find_sound(ctx: Context, sound_id: SoundId) -> SoundboardSound:
    """A sound of the guild entered, without its creator. Raises Refusal: 404/10097."""
    for sound in await ctx.guild.sounds(ctx.tx):
        if sound.sound_id == sound_id:
            return sound
    raise Refusal(errors.UNKNOWN_SOUND)


async def show_sounds(ctx: Context) -> list[SoundboardSound]:
    """Every sound of the guild entered, with its creator for those who are told."""
    sounds = await ctx.guild.sounds(ctx.tx)
    if not sees_creators(ctx):
        return sounds
    creators = await queries.select_creators(ctx.tx, ctx.guild.id)
    users = await get_users(ctx.tx, {user_id for user_id in creators.values() if user_id is not None})
    return [
        sound
        if (user_id := creators.get(sound.sound_id)) is None
        else structs.replace(sound, user=users.get(user_id, UNSET))
        for sound in sounds
    ]


async def show_sound(ctx: Context, sound_id: SoundId) -> SoundboardSound:
    """One of them. Raises Refusal: 404/10097."""
    for sound in await show_sounds(ctx):
        if sound.sound_id == sound_id:
            return sound
    raise Refusal(errors.UNKNOWN_SOUND)


async def create_sound(ctx: Context, body: CreateGuildSoundboardSound) -> SoundboardSound:
    """Make a sound as a request asks.

    Raises Refusal: 400/30045 when there are as many as may be; 50035 for an emoji that is neither the guild's nor a
    standard one.
    """
    emoji_id, emoji_name = _emoji(ctx, body.emoji_id, body.emoji_name)
    sounds = await ctx.guild.sounds(ctx.tx)
    if len(sounds) >= sound_limit(ctx.guild.row.premium_tier, ctx.guild.row.features):
        raise Refusal(errors.TOO_MANY_SOUNDBOARD_SOUNDS)
    sound = SoundboardSound(
        name=clean_name(body.name),
        sound_id=SoundId(ctx.ids.next()),
        volume=body.volume if isinstance(body.volume, float | int) else _LOUD,
        emoji_id=emoji_id,
        emoji_name=emoji_name,
        guild_id=ctx.guild.id,
    )
    file, info = body.sound.hash, body.sound.info
    await queries.insert_sound(ctx.tx, ctx.guild.id, sound, ctx.actor.user_id, file=file, format=info.format)
    await ctx.audit(
        AuditLogEvent.SOUNDBOARD_SOUND_CREATE, target=sound.sound_id, changes=differences(None, sound, _AUDITED)
    )
    ctx.emit(GuildSoundboardSoundCreate(guild_id=ctx.guild.id, sound=sound))
    return structs.replace(sound, user=await get_user(ctx.tx, ctx.actor.user_id) or UNSET)


async def change_sound(ctx: Context, sound_id: SoundId, body: ModifyGuildSoundboardSound) -> SoundboardSound:
    """Change a sound as a request asks; what changes nothing tells nobody.

    Raises Refusal: 404/10097; 403/50013 for somebody else's without MANAGE_GUILD_EXPRESSIONS; 50035 for an emoji
    that is neither the guild's nor a standard one.
    """
    before, user_id = await _open_to_change(ctx, sound_id)
    after = before
    if isinstance(body.name, str):
        after = structs.replace(after, name=clean_name(body.name))
    if body.volume is not UNSET:
        after = structs.replace(after, volume=_LOUD if body.volume is None else body.volume)
    if body.emoji_id is not UNSET or body.emoji_name is not UNSET:
        emoji_id, emoji_name = _emoji(ctx, body.emoji_id, body.emoji_name)
        after = structs.replace(after, emoji_id=emoji_id, emoji_name=emoji_name)
    if after != before:
        await queries.update_sound(ctx.tx, ctx.guild.id, after)
        changes = differences(before, after, _AUDITED)
        await ctx.audit(AuditLogEvent.SOUNDBOARD_SOUND_UPDATE, target=sound_id, changes=changes)
        ctx.emit(GuildSoundboardSoundUpdate(guild_id=ctx.guild.id, sound=after))
    user = None if user_id is None else await get_user(ctx.tx, user_id)
    return structs.replace(after, user=user or UNSET)


async def delete_sound(ctx: Context, sound_id: SoundId) -> None:
    """Remove a sound.

    Raises Refusal: 404/10097; 403/50013 for somebody else's without MANAGE_GUILD_EXPRESSIONS.
    """
    sound, _ = await _open_to_change(ctx, sound_id)
    await queries.delete_sound(ctx.tx, ctx.guild.id, sound_id)
    changes = differences(sound, None, _AUDITED)
    await ctx.audit(AuditLogEvent.SOUNDBOARD_SOUND_DELETE, target=sound_id, changes=changes)
    ctx.emit(GuildSoundboardSoundDelete(guild_id=ctx.guild.id, sound_id=sound_id))


async def take_emoji(ctx: Context, emoji_id: EmojiId) -> None:
    """Take an emoji that is ending from the sounds that it stands for. Rows that call this declare the event."""
    sounds = await ctx.guild.sounds(ctx.tx)
    if any(sound.emoji_id == emoji_id for sound in sounds):
        await queries.take_emoji(ctx.tx, ctx.guild.id, emoji_id)
        announce_all(ctx, [_without(sound, emoji_id) for sound in sounds])


def announce_all(ctx: Context, sounds: Iterable[SoundboardSound]) -> None:
    """Tell what sounds the guild entered has now."""
    row = ctx.guild.row
    rated = rate_sounds(sounds, row.premium_tier, row.features)
    ctx.emit(GuildSoundboardSoundsUpdate(guild_id=ctx.guild.id, soundboard_sounds=rated))


async def tell_availability(ctx: Context, after: Guild) -> None:
    """Tell what sounds the guild entered has, if its new tier or features make some of them available, or not."""
    before = await ctx.guild.sounds(ctx.tx)
    rated = rate_sounds(before, after.premium_tier, after.features)
    if rated != before:
        ctx.emit(GuildSoundboardSoundsUpdate(guild_id=after.id, soundboard_sounds=rated))


async def play_sound(ctx: Context, body: SendSoundboardSound) -> None:
    """Play a sound in the voice channel entered, which the caller is in.

    Raises Refusal: 400/50024 for what is no voice channel; 400/40032 for somebody who is not in it; 403/50167 for one
    who is muted or deafened, or in the audience; 404/10097 for a sound that is not there, or not theirs to use;
    403/50013 for another guild's without USE_EXTERNAL_SOUNDS.
    """
    access, user_id = ctx.channel, ctx.actor.user_id
    if access.channel.type not in VOICE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    state = await get_voice_state(ctx.tx, ctx.guild.id, user_id)
    member = await get_member(ctx.tx, ctx.guild.id, user_id)
    if state is None or member is None or state.channel_id != access.id:
        raise Refusal(errors.NOT_IN_VOICE)
    if state.suppress or state.self_deaf or member.deaf or member.mute:
        raise Refusal(errors.VOICE_EFFECT_WHILE_MUTED)
    sound, emoji = await _playable(ctx, body)
    listeners = await select_states_in_channel(ctx.tx, access.id)
    ctx.emit(
        VoiceChannelEffectSend(
            guild_id=ctx.guild.id,
            channel_id=access.id,
            user_id=user_id,
            emoji=emoji,
            sound_id=sound.sound_id,
            sound_volume=sound.volume,
            user_ids=tuple(row.user_id for row in listeners),
        )
    )


async def _playable(ctx: Context, body: SendSoundboardSound) -> tuple[SoundboardSound, PartialEmoji | None]:
    """A sound that the caller may use here, and the emoji that stands for it."""
    own = body.source_guild_id in {UNSET, None, ctx.guild.id}
    guild = ctx.guild
    if not own:
        source, authority = await ctx.services.states.authority(
            ctx.tx,
            body.source_guild_id,  # type: ignore[arg-type]  # an id: that it is neither null nor absent is known
            ctx.actor.user_id,
            ctx.now,
            writes=ctx.writes,
        )
        if source is None or authority is None:
            raise Refusal(errors.UNKNOWN_SOUND)
        guild = source
    found = [*await guild.sounds(ctx.tx), *(DEFAULT_SOUNDS if own else ())]
    sound = next((sound for sound in found if sound.sound_id == body.sound_id and sound.available), None)
    if sound is None:
        raise Refusal(errors.UNKNOWN_SOUND)
    if not own:
        ctx.require(Permissions.USE_EXTERNAL_SOUNDS)
    if sound.emoji_id is not None:
        for emoji in guild.emojis:
            if emoji.id == sound.emoji_id:
                return sound, PartialEmoji(id=emoji.id, name=emoji.name, animated=emoji.animated)
    return sound, None if sound.emoji_name is None else PartialEmoji(id=None, name=sound.emoji_name)


async def _open_to_change(ctx: Context, sound_id: SoundId) -> tuple[SoundboardSound, UserId | None]:
    sound = await find_sound(ctx, sound_id)
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(sound_id)
    require_may_change(ctx, creator_id)
    return sound, creator_id


def _emoji(
    ctx: Context, emoji_id: EmojiId | UnsetType | None, emoji_name: str | UnsetType | None
) -> tuple[EmojiId | None, str | None]:
    """The emoji that a request names: a guild's by its id alone, a standard one by its character. Raises Refusal."""
    form_errors = FormErrors()
    emoji = choose_emoji(ctx.guild.emojis, emoji_id or None, emoji_name or None, form_errors)
    form_errors.raise_if_any()
    return emoji.id, None if emoji.id is not None else emoji.name


def _without(sound: SoundboardSound, emoji_id: EmojiId) -> SoundboardSound:
    return structs.replace(sound, emoji_id=None) if sound.emoji_id == emoji_id else sound
