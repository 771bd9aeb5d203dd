"""Sounds lose an emoji that is deleted."""

from moothall.resources.emoji.operations import EMOJI_DELETED
from moothall.resources.soundboard.events import GuildSoundboardSoundsUpdate
from moothall.resources.soundboard.operations import take_emoji

EMOJI_DELETED.register(take_emoji, fires=(GuildSoundboardSoundsUpdate,))
