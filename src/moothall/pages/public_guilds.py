"""The discoverable guilds on the start page."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Final, NamedTuple

from moothall.objects.discovery import CATEGORIES, GENERAL
from moothall.objects.limits import DISCOVERY_QUERY_MAX
from moothall.pages.translations import translatable
from moothall.resources.discovery.queries import DiscoverableRow

Search = Callable[[str, int | None], Coroutine[object, None, Sequence[DiscoverableRow]]]
"""Finds discoverable guilds by words and category; none where the setting lists none."""

CATEGORY_LABELS: Final = {
    0: translatable("General"),
    1: translatable("Gaming"),
    2: translatable("Music"),
    3: translatable("Entertainment"),
    4: translatable("Creative arts"),
    5: translatable("Science and technology"),
    6: translatable("Education"),
    7: translatable("Sports"),
    8: translatable("Fashion and beauty"),
    9: translatable("Relationships and identity"),
    10: translatable("Travel and food"),
    11: translatable("Fitness and health"),
    12: translatable("Finance"),
    13: translatable("Other"),
}
"""The names of the categories, by their ids."""
_SHOWN_MAX: Final = 24
_TEXT_MAX: Final = 160
_HUES: Final = ("crimson", "ember", "amber", "olive", "green", "teal", "sky", "blue", "violet", "pink")


class PublicGuild(NamedTuple):
    """What the start page shows of a guild."""

    id: int
    name: str
    icon: str | None
    description: str
    category: int
    member_count: int

    @property
    def hue(self) -> str:
        """The ground of its tile where it has no icon."""
        return _HUES[(self.id >> 22) % len(_HUES)]

    @property
    def initial(self) -> str:
        """What its tile says."""
        return self.name[:1].upper()


class PublicGuilds(NamedTuple):
    """What a reader of the start page has looked for, and the guilds that were found."""

    query: str = ""
    category: int | None = None
    guilds: tuple[PublicGuild, ...] = ()
    total: int = 0
    is_listed: bool = False
    """Whether there is any discoverable guild."""


async def find_public_guilds(search: Search, query: str, category: str) -> PublicGuilds:
    """The guilds that the start page shows for the parameters of its form."""
    query = query.strip()[:DISCOVERY_QUERY_MAX]
    number = int(category) if category.isascii() and category.isdecimal() and len(category) < 3 else None
    category_id = number if number in CATEGORIES else None
    rows = await search(query, category_id)
    guilds = tuple(
        PublicGuild(
            int(row.id),
            row.name,
            row.icon,
            (row.description or "")[:_TEXT_MAX],
            row.primary_category_id or GENERAL,
            row.member_count,
        )
        for row in rows[:_SHOWN_MAX]
    )
    is_listed = bool(rows) or bool(await search("", None))
    return PublicGuilds(query, category_id, guilds, len(rows), is_listed)
