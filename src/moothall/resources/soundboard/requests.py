"""Request bodies of soundboard sounds and their validation."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import EmojiId, GuildId, SoundId
from moothall.objects.sound_data import SoundData
from moothall.objects.text import clean_name

SoundName = Annotated[str, Meta(min_length=limits.SOUND_NAME_MIN, max_length=limits.SOUND_NAME_MAX)]
Volume = Annotated[float, Meta(ge=0, le=1)]
EmojiName = Annotated[str, Meta(max_length=32)]


def _check_name(name: str, form_errors: FormErrors) -> None:
    if len(clean_name(name)) < limits.SOUND_NAME_MIN:
        form_errors.add("name", *FieldError.length(limits.SOUND_NAME_MIN, limits.SOUND_NAME_MAX))


class CreateGuildSoundboardSound(Struct, frozen=True, kw_only=True):
    """A new sound: an mp3 or ogg. `emoji_id` takes precedence over `emoji_name`."""

    name: SoundName
    sound: SoundData
    volume: Volume | UnsetType | None = UNSET
    emoji_id: EmojiId | UnsetType | None = UNSET
    emoji_name: EmojiName | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse a name of blanks."""
        _check_name(self.name, form_errors)


class ModifyGuildSoundboardSound(Struct, frozen=True, kw_only=True):
    """Changes to a sound; absent fields stay as they are. A null volume is 1, a null emoji removes it."""

    name: SoundName | UnsetType = UNSET
    volume: Volume | UnsetType | None = UNSET
    emoji_id: EmojiId | UnsetType | None = UNSET
    emoji_name: EmojiName | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse a name of blanks."""
        if isinstance(self.name, str):
            _check_name(self.name, form_errors)


class SendSoundboardSound(Struct, frozen=True, kw_only=True):
    """A sound to play; a sound of another guild needs `source_guild_id`."""

    sound_id: SoundId
    source_guild_id: GuildId | UnsetType | None = UNSET
