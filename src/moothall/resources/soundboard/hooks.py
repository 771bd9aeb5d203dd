"""Removes a deleted emoji from sounds."""

from moothall.resources.emoji.operations import EMOJI_DELETED
from moothall.resources.soundboard.events import GuildSoundboardSoundsUpdate
from moothall.resources.soundboard.operations import remove_emoji_from_sounds

EMOJI_DELETED.register(remove_emoji_from_sounds, fires=(GuildSoundboardSoundsUpdate,))
