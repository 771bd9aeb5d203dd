"""Rules for tests."""

from typing import Any

from tests.support.harness import Guild

BLOCK, ALERT, TIMEOUT, QUARANTINE = 1, 2, 3, 4
KEYWORD, SPAM, PRESET, MENTIONS, PROFILE = 1, 3, 4, 5, 6


def body_of(trigger_type: int = KEYWORD, **fields: Any) -> dict[str, Any]:
    """The body of an enabled rule; a keyword rule is about cats."""
    metadata = {
        KEYWORD: {"keyword_filter": ["*cat*"]},
        PROFILE: {"keyword_filter": ["*cat*"]},
        PRESET: {"presets": [1]},
    }
    return {
        "name": "No cats",
        "event_type": 2 if trigger_type == PROFILE else 1,
        "trigger_type": trigger_type,
        "trigger_metadata": metadata.get(trigger_type, {}),
        "enabled": True,
        **fields,
    }


async def create_rule(guild: Guild, trigger_type: int = KEYWORD, **fields: Any) -> dict[str, Any]:
    """A rule made by the guild's owner."""
    reply = await guild.owner.post(f"/guilds/{guild.id}/auto-moderation/rules", body_of(trigger_type, **fields))
    assert reply.status == 200, reply.json
    rule: dict[str, Any] = reply.json
    return rule


def alert_to(channel_id: int) -> dict[str, Any]:
    """The action that sends an alert to a channel."""
    return {"type": ALERT, "metadata": {"channel_id": str(int(channel_id))}}


def timeout_for(seconds: int) -> dict[str, Any]:
    """The action that times a member out."""
    return {"type": TIMEOUT, "metadata": {"duration_seconds": seconds}}
