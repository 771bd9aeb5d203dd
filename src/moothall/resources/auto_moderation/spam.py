"""What makes content spam: repetition, pings with links, links that pretend, and raids of mentions.

The memory of recent messages is this process's own; it is bounded in time and size.
"""

import hashlib
import re
from collections import deque
from typing import Final

from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.runtime.cache import Cache

_REPEATED: Final = 5
"""Messages with the same text by one member within `_WINDOW_MS` that count as spam, from the last of these on."""
_CHANNELS: Final = 3
"""The same for the number of different channels that they were sent to."""
_WINDOW_MS: Final = 30_000
_MIN_REPEATED: Final = 4
"""Shorter texts may be repeated."""
_MAX_REMEMBERED: Final = 20_000

_RAID_MENTIONS: Final = 50
"""Mentions in a guild within `_RAID_WINDOW_MS`, by at least `_RAID_MEMBERS` members, that count as a raid."""
_RAID_MEMBERS: Final = 3
_RAID_WINDOW_MS: Final = 60_000
_RAID_LASTS_MS: Final = 600_000
"""How long messages with mentions count as part of a raid that was detected."""

_LINK: Final = re.compile(r"https?://([^\s/?#<>()]+)", re.IGNORECASE)
_MASKED: Final = re.compile(
    r"\[[^\]\n]*https?://([^\s/?#<>()\]]+)[^\]\n]*\]\(\s*<?https?://([^\s/?#<>()]+)", re.IGNORECASE
)
_PING: Final = re.compile(r"@(?:everyone|here)\b")


def looks_like_spam(text: str, *, may_ping: bool) -> bool:
    """Whether a text has a link that shows the URL of another host, or unless `may_ping` pings everyone with a link."""
    if "://" not in text:
        return False
    if not may_ping and _PING.search(text) and _LINK.search(text):
        return True
    return any(_host(shown) != _host(actual) for shown, actual in _MASKED.findall(text))


def _host(text: str) -> str:
    return text.lower().removeprefix("www.")


class RecentContent:
    """The texts that members sent lately, and the mentions in each guild."""

    def __init__(self) -> None:
        self._texts: Cache[tuple[int, int, bytes], deque[tuple[int, int]]] = Cache(_MAX_REMEMBERED)
        self._mentions: Cache[int, deque[tuple[int, int, int]]] = Cache(_MAX_REMEMBERED)
        self._raids: dict[int, int] = {}

    def is_repeated(self, guild_id: GuildId, user_id: UserId, channel_id: ChannelId, text: str, now: int) -> bool:
        """Note a text; whether the member has sent it too often, or to too many channels."""
        folded = " ".join(text.lower().split())
        if len(folded) < _MIN_REPEATED:
            return False
        key = (int(guild_id), int(user_id), hashlib.blake2b(folded.encode(), digest_size=16).digest())
        times = self._texts.get(key, deque(maxlen=_REPEATED))
        self._texts.keep(key, times)
        times.append((now, int(channel_id)))
        recent = [channel for time, channel in times if time > now - _WINDOW_MS]
        return len(recent) >= _REPEATED or len(set(recent)) >= _CHANNELS

    def is_raid(self, guild_id: GuildId, user_id: UserId, mentions: int, now: int) -> bool:
        """Note the mentions of a message; whether it is part of a raid."""
        if not mentions:
            return False
        if self._raids.get(guild_id, 0) > now:
            return True
        noted = self._mentions.get(int(guild_id), deque())
        self._mentions.keep(int(guild_id), noted)
        noted.append((now, int(user_id), mentions))
        while noted[0][0] <= now - _RAID_WINDOW_MS or len(noted) > 10 * _RAID_MENTIONS:
            noted.popleft()
        if sum(count for _, _, count in noted) < _RAID_MENTIONS or len({user for _, user, _ in noted}) < _RAID_MEMBERS:
            return False
        noted.clear()
        self._raids = {guild: until for guild, until in self._raids.items() if until > now}
        self._raids[int(guild_id)] = now + _RAID_LASTS_MS
        return True
