"""Creating, modifying, deleting and playing soundboard sounds (resources: soundboard)."""

from collections.abc import Iterable

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel_types import VOICE
from moothall.objects.emoji import PartialEmoji
from moothall.objects.emoji_choice import choose_emoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.expressions import sound_limit, sounds_with_availability
from moothall.objects.guild import Guild
from moothall.objects.ids import EmojiId, SoundId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.text import clean_name
from moothall.resources.emoji.rules import can_see_creators, require_expression_management
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
_DEFAULT_VOLUME = 1.0


async def find_sound(ctx: Context, sound_id: SoundId) -> SoundboardSound:
    """A sound of the request's guild, without its creator. Raises Refusal: 404/10097."""
    for sound in await ctx.guild.sounds(ctx.tx):
        if sound.sound_id == sound_id:
            return sound
    raise Refusal(errors.UNKNOWN_SOUND)


async def list_guild_sounds(ctx: Context) -> list[SoundboardSound]:
    """Every sound of the request's guild, with creators if the caller may see them."""
    sounds = await ctx.guild.sounds(ctx.tx)
    if not can_see_creators(ctx):
        return sounds
    creators = await queries.select_creators(ctx.tx, ctx.guild.id)
    users = await get_users(ctx.tx, {user_id for user_id in creators.values() if user_id is not None})
    return [
        sound
        if (user_id := creators.get(sound.sound_id)) is None
        else structs.replace(sound, user=users.get(user_id, UNSET))
        for sound in sounds
    ]


async def get_guild_sound(ctx: Context, sound_id: SoundId) -> SoundboardSound:
    """A sound of the request's guild, with its creator if the caller may see it. Raises Refusal: 404/10097."""
    for sound in await list_guild_sounds(ctx):
        if sound.sound_id == sound_id:
            return sound
    raise Refusal(errors.UNKNOWN_SOUND)


async def create_sound(ctx: Context, body: CreateGuildSoundboardSound) -> SoundboardSound:
    """Create a sound in the request's guild.

    Raises Refusal: 400/30045 at the maximum number of sounds; 50035 for an emoji that is neither the guild's nor a
    standard emoji.
    """
    emoji_id, emoji_name = _requested_emoji(ctx, body.emoji_id, body.emoji_name)
    sounds = await ctx.guild.sounds(ctx.tx)
    if len(sounds) >= sound_limit(ctx.guild.row.premium_tier, ctx.guild.row.features):
        raise Refusal(errors.TOO_MANY_SOUNDBOARD_SOUNDS)
    sound = SoundboardSound(
        name=clean_name(body.name),
        sound_id=SoundId(ctx.ids.next()),
        volume=body.volume if isinstance(body.volume, float | int) else _DEFAULT_VOLUME,
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


async def modify_sound(ctx: Context, sound_id: SoundId, body: ModifyGuildSoundboardSound) -> SoundboardSound:
    """Change the name, volume or emoji of a sound. A request that changes nothing emits nothing.

    Raises Refusal: 404/10097; 403/50013 for another user's sound without MANAGE_GUILD_EXPRESSIONS; 50035 for an emoji
    that is neither the guild's nor a standard emoji.
    """
    before, user_id = await _find_changeable(ctx, sound_id)
    after = before
    if isinstance(body.name, str):
        after = structs.replace(after, name=clean_name(body.name))
    if body.volume is not UNSET:
        after = structs.replace(after, volume=_DEFAULT_VOLUME if body.volume is None else body.volume)
    if body.emoji_id is not UNSET or body.emoji_name is not UNSET:
        emoji_id, emoji_name = _requested_emoji(ctx, body.emoji_id, body.emoji_name)
        after = structs.replace(after, emoji_id=emoji_id, emoji_name=emoji_name)
    if after != before:
        await queries.update_sound(ctx.tx, ctx.guild.id, after)
        changes = differences(before, after, _AUDITED)
        await ctx.audit(AuditLogEvent.SOUNDBOARD_SOUND_UPDATE, target=sound_id, changes=changes)
        ctx.emit(GuildSoundboardSoundUpdate(guild_id=ctx.guild.id, sound=after))
    user = None if user_id is None else await get_user(ctx.tx, user_id)
    return structs.replace(after, user=user or UNSET)


async def delete_sound(ctx: Context, sound_id: SoundId) -> None:
    """Delete a sound.

    Raises Refusal: 404/10097; 403/50013 for another user's sound without MANAGE_GUILD_EXPRESSIONS.
    """
    sound, _ = await _find_changeable(ctx, sound_id)
    await queries.delete_sound(ctx.tx, ctx.guild.id, sound_id)
    changes = differences(sound, None, _AUDITED)
    await ctx.audit(AuditLogEvent.SOUNDBOARD_SOUND_DELETE, target=sound_id, changes=changes)
    ctx.emit(GuildSoundboardSoundDelete(guild_id=ctx.guild.id, sound_id=sound_id))


async def remove_emoji_from_sounds(ctx: Context, emoji_id: EmojiId) -> None:
    """Remove a deleted emoji from the sounds that show it. Rows that call this declare GuildSoundboardSoundsUpdate."""
    sounds = await ctx.guild.sounds(ctx.tx)
    if any(sound.emoji_id == emoji_id for sound in sounds):
        await queries.remove_emoji(ctx.tx, ctx.guild.id, emoji_id)
        announce_sounds(ctx, [_without_emoji(sound, emoji_id) for sound in sounds])


def announce_sounds(ctx: Context, sounds: Iterable[SoundboardSound]) -> None:
    """Emit all sounds of the request's guild."""
    row = ctx.guild.row
    available = sounds_with_availability(sounds, row.premium_tier, row.features)
    ctx.emit(GuildSoundboardSoundsUpdate(guild_id=ctx.guild.id, soundboard_sounds=available))


async def announce_sound_availability(ctx: Context, after: Guild) -> None:
    """Emit all sounds of the request's guild if its new boost tier or features change which are available."""
    before = await ctx.guild.sounds(ctx.tx)
    available = sounds_with_availability(before, after.premium_tier, after.features)
    if available != before:
        ctx.emit(GuildSoundboardSoundsUpdate(guild_id=after.id, soundboard_sounds=available))


async def play_sound(ctx: Context, body: SendSoundboardSound) -> None:
    """Play a sound in the voice channel of the request.

    Raises Refusal: 400/50024 for another type of channel; 400/40032 for a caller who is not in it; 403/50167 for a
    caller who is muted, deafened or suppressed; 404/10097 for a sound that is unknown, unavailable or of a guild that
    the caller is not in; 403/50013 for a sound of another guild without USE_EXTERNAL_SOUNDS.
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
    sound, emoji = await _find_playable(ctx, body)
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


async def _find_playable(ctx: Context, body: SendSoundboardSound) -> tuple[SoundboardSound, PartialEmoji | None]:
    """A sound that the caller may play in the request's channel, and its emoji."""
    is_own_guild = body.source_guild_id in {UNSET, None, ctx.guild.id}
    guild = ctx.guild
    if not is_own_guild:
        source, authority = await ctx.services.states.authority(
            ctx.tx,
            body.source_guild_id,  # type: ignore[arg-type]  # neither null nor absent, as `is_own_guild` is false
            ctx.actor.user_id,
            ctx.now,
            writes=ctx.writes,
        )
        if source is None or authority is None:
            raise Refusal(errors.UNKNOWN_SOUND)
        guild = source
    sounds = [*await guild.sounds(ctx.tx), *(DEFAULT_SOUNDS if is_own_guild else ())]
    sound = next((sound for sound in sounds if sound.sound_id == body.sound_id and sound.available), None)
    if sound is None:
        raise Refusal(errors.UNKNOWN_SOUND)
    if not is_own_guild:
        ctx.require(Permissions.USE_EXTERNAL_SOUNDS)
    if sound.emoji_id is not None:
        for emoji in guild.emojis:
            if emoji.id == sound.emoji_id:
                return sound, PartialEmoji(id=emoji.id, name=emoji.name, animated=emoji.animated)
    return sound, None if sound.emoji_name is None else PartialEmoji(id=None, name=sound.emoji_name)


async def _find_changeable(ctx: Context, sound_id: SoundId) -> tuple[SoundboardSound, UserId | None]:
    sound = await find_sound(ctx, sound_id)
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(sound_id)
    require_expression_management(ctx, creator_id)
    return sound, creator_id


def _requested_emoji(
    ctx: Context, emoji_id: EmojiId | UnsetType | None, emoji_name: str | UnsetType | None
) -> tuple[EmojiId | None, str | None]:
    """The id of a guild's emoji and None, or None and a standard emoji, as requested. Raises Refusal: 50035."""
    form_errors = FormErrors()
    emoji = choose_emoji(ctx.guild.emojis, emoji_id or None, emoji_name or None, form_errors)
    form_errors.raise_if_any()
    return emoji.id, None if emoji.id is not None else emoji.name


def _without_emoji(sound: SoundboardSound, emoji_id: EmojiId) -> SoundboardSound:
    return structs.replace(sound, emoji_id=None) if sound.emoji_id == emoji_id else sound
