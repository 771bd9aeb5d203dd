"""A forum with many posts, most of them archived, written straight into a database."""

from typing import Any

from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp

FORUM, PUBLIC_THREAD = 15, 11
ACTIVE = 900
"""So many of the posts are active, fewer than a guild can have."""
_WORDS = ("ship", "oar", "sail", "mast", "keel", "rope", "tide", "star", "fish", "bread")


def forum_rows(
    guild_id: Snowflake, people: list[Snowflake], count: int, ids: SnowflakeFactory, now: Timestamp
) -> dict[str, list[dict[str, Any]]]:
    """The rows of a forum, by table; the first channel is the forum, the last one the newest post."""
    forum_id = ids.next()
    tags = [ids.next() for _ in range(5)]
    described = [
        {"id": str(int(tag)), "name": f"tag {i}", "moderated": False, "emoji_id": None, "emoji_name": None}
        for i, tag in enumerate(tags)
    ]
    plain = {"parent_id": None, "archived": False, "archived_at": None, "latest_message_id": None, "name_key": None}
    channels: list[dict[str, Any]] = [
        {"id": forum_id, "guild_id": guild_id, "type": FORUM, "name": "forum", "available_tags": described} | plain
    ]
    rows: dict[str, list[dict[str, Any]]] = {"channels": channels, "thread_tags": [], "channel_activity": []}
    for number in range(count):
        thread_id = ids.next()
        name = f"{_WORDS[number % 10]} and {_WORDS[number // 10 % 10]} {number}"
        archived = number < count - ACTIVE
        metadata = {"auto_archive_duration": 10080, "locked": False, "archive_timestamp": now.wire()}
        channels.append(
            {
                "id": thread_id,
                "guild_id": guild_id,
                "type": PUBLIC_THREAD,
                "parent_id": forum_id,
                "name": name,
                "name_key": search_key(name),
                "owner_id": people[number % len(people)],
                "thread_metadata": metadata | {"create_timestamp": now.wire()},
                "archived": archived,
                "archived_at": Timestamp(now - number * 1000) if archived else None,
                "latest_message_id": thread_id,
                "applied_tags": [tags[number % 5]],
                "member_count": 1,
                "message_count": 0,
                "total_message_sent": 0,
            }
        )
        rows["thread_tags"].append({"thread_id": thread_id, "tag_id": tags[number % 5]})
        rows["channel_activity"].append({"channel_id": thread_id, "last_message_id": thread_id})
    return rows
