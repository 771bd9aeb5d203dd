"""A community with one of everything, made by requests: what is recorded and what is replayed begin with the same."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00050001ff8999"
        "3d1d0000000049454e44ae426082"
    )
).decode()
TOMORROW = "2100-01-01T00:00:00+00:00"

Send = Callable[..., Awaitable[Any]]
"""Sends (method, path, body) as one user and returns the answer's JSON."""


async def build(owner: Send, bob: Send, bot: Send, application_id: str, bob_id: str) -> dict[str, str]:
    """Make it as the owner; returns the ids by name, and the codes of an invite and a template."""
    guild = (await owner("POST", "/guilds", {"name": "Guild", "system_channel_flags": 1}))["id"]
    channels = await owner("GET", f"/guilds/{guild}/channels")
    text = next(each["id"] for each in channels if each["type"] == 0)
    query = f"client_id={application_id}&scope=bot&permissions=8"
    await owner("POST", f"/oauth2/authorize?{query}", {"authorize": True, "guild_id": guild, "permissions": "8"})
    roles = await owner("GET", f"/guilds/{guild}/roles")
    bot_role = next(each["id"] for each in roles if each["managed"])
    invite = (await owner("POST", f"/channels/{text}/invites", {"max_age": 0}))["code"]
    await bob("POST", f"/invites/{invite}", {})
    ids = {"guild": guild, "text": text, "member": bob_id, "application": application_id, "invite": invite}
    ids["bot_role"] = bot_role
    # Before the channels that templates cannot have.
    ids["template"] = (await owner("POST", f"/guilds/{guild}/templates", {"name": "template"}))["code"]
    community = {"features": ["COMMUNITY"], "rules_channel_id": text, "public_updates_channel_id": text}
    levels = {"verification_level": 1, "explicit_content_filter": 2, "default_message_notifications": 1}
    await owner("PATCH", f"/guilds/{guild}", community | levels)
    kinds = {"voice": 2, "category": 4, "news": 5, "stage": 13, "forum": 15}
    for name, kind in kinds.items():
        ids[name] = (await owner("POST", f"/guilds/{guild}/channels", {"name": name, "type": kind}))["id"]
    url = f"/guilds/{guild}"
    ids["role"] = (await owner("POST", f"{url}/roles", {"name": "role"}))["id"]
    ids["message"] = (await bot("POST", f"/channels/{text}/messages", {"content": "hello"}))["id"]
    ids["thread"] = (await bot("POST", f"/channels/{text}/threads", {"name": "thread", "type": 11}))["id"]
    webhook = await bot("POST", f"/channels/{text}/webhooks", {"name": "webhook"})
    ids |= {"webhook": webhook["id"], "webhook_token": webhook["token"]}
    image = f"data:image/png;base64,{PIXEL}"
    ids["emoji"] = (await owner("POST", f"{url}/emojis", {"name": "emoji", "image": image}))["id"]
    event = {
        "name": "event", "privacy_level": 2, "scheduled_start_time": TOMORROW,
        "scheduled_end_time": "2100-01-02T00:00:00+00:00", "entity_type": 3, "entity_metadata": {"location": "here"},
    }  # fmt: skip
    ids["event"] = (await owner("POST", f"{url}/scheduled-events", event))["id"]
    rule = {
        "name": "rule",
        "event_type": 1,
        "trigger_type": 1,
        "trigger_metadata": {"keyword_filter": ["xyzzy"]},
        "actions": [{"type": 1}],
    }
    ids["rule"] = (await owner("POST", f"{url}/auto-moderation/rules", rule))["id"]
    return ids
