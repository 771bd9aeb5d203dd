"""Guild states that are compared with what the database has, whenever one is made from an earlier version."""

from collections.abc import Collection, Mapping
from typing import Any

from moothall.authority.guild_changes import GuildChange
from moothall.authority.guild_state import GuildState
from moothall.authority.guild_states import GuildStates
from moothall.objects.ids import GuildId
from moothall.objects.role import Role
from moothall.storage.database import Reader, Transaction

_PARTS = ("roles", "emojis", "stickers", "version")
_NOT_ANNOUNCED = {"recent_changes", "vanity_url_uses"}


async def assert_equal_to_stored(reader: Reader, states: GuildStates, state: GuildState) -> None:
    """Fail unless a state is what loading the guild whole gives, in order, with all that it has loaded lazily."""
    fresh = await states.load(reader, state.id)
    assert fresh is not None
    for name in _PARTS:
        assert _listed(getattr(state, name)) == _listed(getattr(fresh, name)), name
    for name in state.row.__struct_fields__:
        assert name in _NOT_ANNOUNCED or getattr(state.row, name) == getattr(fresh.row, name), name
    loaded, channels = state._loaded, await fresh.channels(reader)
    assert loaded.channels == {key: channel for key, channel in channels.items() if key in loaded.channels}
    assert not loaded.all_channels or loaded.channels.keys() == channels.keys()
    for channel in channels.values():
        assert loaded.overwrites.get(channel.id) in (None, fresh.overwrites(channel))
    assert loaded.sounds is None or loaded.sounds == await fresh.sounds(reader)
    assert loaded.rules is None or loaded.rules == await fresh.auto_moderation_rules(reader)


class ComparedStates(GuildStates):
    """States whose every new version is compared."""

    async def renew(
        self,
        tx: Transaction,
        guild_id: GuildId,
        version: int,
        changes: Collection[GuildChange],
        base: GuildState | None,
        roles: Mapping[int, Role | None],
    ) -> None:
        """Compare the state of the new version inside the transaction."""
        await super().renew(tx, guild_id, version, changes, base, roles)
        state = self._uncommitted.get(guild_id)
        if state is not None and state.version == version:
            await assert_equal_to_stored(tx, self, state)


def _listed(value: Any) -> Any:
    return list(value.items()) if isinstance(value, dict) else value
