"""Soundboards over HTTP (resources: soundboard)."""

from moothall.api.access import MEMBER, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.objects.ids import ChannelId, GuildId, SoundId
from moothall.objects.permissions import Permissions
from moothall.objects.soundboard import GuildSounds, SoundboardSound
from moothall.resources.emoji.rules import CHANGE_EXPRESSIONS, CREATE_EXPRESSIONS
from moothall.resources.soundboard import operations
from moothall.resources.soundboard.defaults import DEFAULT_SOUNDS
from moothall.resources.soundboard.events import (
    GuildSoundboardSoundCreate,
    GuildSoundboardSoundDelete,
    GuildSoundboardSoundUpdate,
    VoiceChannelEffectSend,
)
from moothall.resources.soundboard.requests import (
    CreateGuildSoundboardSound,
    ModifyGuildSoundboardSound,
    SendSoundboardSound,
)

_SOUNDS = "/guilds/{guild_id}/soundboard-sounds"


@get("/soundboard-default-sounds", permission=SIGNED_IN)
async def list_default_soundboard_sounds(_ctx: Context) -> list[SoundboardSound]:
    """List the default sounds."""
    return list(DEFAULT_SOUNDS)


@get(_SOUNDS, permission=MEMBER)
async def list_guild_soundboard_sounds(ctx: Context, guild_id: GuildId) -> GuildSounds:
    """List a guild's sounds. Creators are included for callers who may create or manage expressions."""
    return GuildSounds(items=await operations.list_guild_sounds(ctx))


@get(f"{_SOUNDS}/{{sound_id}}", permission=MEMBER)
async def get_guild_soundboard_sound(ctx: Context, guild_id: GuildId, sound_id: SoundId) -> SoundboardSound:
    """Get a sound of a guild. Its creator is included for callers who may create or manage expressions."""
    return await operations.get_guild_sound(ctx, sound_id)


@post(_SOUNDS, permission=CREATE_EXPRESSIONS, audit_reason=True, fires=(GuildSoundboardSoundCreate,), status=201)
async def create_guild_soundboard_sound(
    ctx: Context, guild_id: GuildId, body: CreateGuildSoundboardSound
) -> SoundboardSound:
    """Create a sound from an mp3 or ogg of at most 512 KiB and 5.2 seconds."""
    return await operations.create_sound(ctx, body)


@patch(
    f"{_SOUNDS}/{{sound_id}}",
    permission=CHANGE_EXPRESSIONS,
    audit_reason=True,
    fires=(GuildSoundboardSoundUpdate,),
)
async def modify_guild_soundboard_sound(
    ctx: Context, guild_id: GuildId, sound_id: SoundId, body: ModifyGuildSoundboardSound
) -> SoundboardSound:
    """Change a sound. Sounds of others need MANAGE_GUILD_EXPRESSIONS."""
    return await operations.modify_sound(ctx, sound_id, body)


@delete(
    f"{_SOUNDS}/{{sound_id}}",
    permission=CHANGE_EXPRESSIONS,
    audit_reason=True,
    fires=(GuildSoundboardSoundDelete,),
)
async def delete_guild_soundboard_sound(ctx: Context, guild_id: GuildId, sound_id: SoundId) -> None:
    """Delete a sound. Sounds of others need MANAGE_GUILD_EXPRESSIONS."""
    await operations.delete_sound(ctx, sound_id)


@post(
    "/channels/{channel_id}/send-soundboard-sound",
    permission=Permissions.SPEAK | Permissions.USE_SOUNDBOARD,
    fires=(VoiceChannelEffectSend,),
)
async def send_soundboard_sound(ctx: Context, channel_id: ChannelId, body: SendSoundboardSound) -> None:
    """Play a sound in the voice channel that the caller is in."""
    await operations.play_sound(ctx, body)
