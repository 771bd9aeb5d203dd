"""Audit log entries for changes of onboarding, welcome screen, screening, incident actions, widget and vanity URL."""

from moothall.objects.wire import Timestamp
from tests.support.harness import Platform


async def test_changes_of_screens_have_the_entry_types_of_the_public_description(platform: Platform) -> None:
    owner = await platform.person("alice")
    guild = await platform.guild(owner, features=["VANITY_URL"])
    role, base = await guild.role(), f"/guilds/{guild.id}"
    option = {"title": "Chess", "role_ids": [str(role)], "channel_ids": [str(guild.general)], "emoji_name": "⚫"}
    prompts = [{"id": 0, "title": "What?", "options": [option]}]
    made = (await owner.put(f"{base}/onboarding", {"prompts": prompts}, reason="curious")).json["prompts"]
    made[0]["title"] = "Well?"
    await owner.put(f"{base}/onboarding", {"prompts": made, "default_channel_ids": [str(guild.general)]})
    await owner.put(f"{base}/onboarding", {"prompts": []})
    shown = [{"channel_id": str(guild.general), "description": "Hello"}]
    await owner.patch(f"{base}/welcome-screen", {"welcome_channels": shown, "enabled": True})
    field = {"field_type": "TERMS", "label": "Rules", "values": ["Be kind"]}
    await owner.patch(f"{base}/member-verification", {"form_fields": [field]})
    await owner.put(f"{base}/incident-actions", {"dms_disabled_until": Timestamp(Timestamp.now() + 60_000).wire()})
    await owner.patch(f"{base}/widget", {"enabled": True, "channel_id": str(guild.general)})
    await owner.patch(f"{base}/vanity-url", {"code": "hall"})
    reply = await owner.get(f"{base}/audit-logs")
    assert reply.status == 200
    kinds = [entry["action_type"] for entry in reply.json["audit_log_entries"]]
    assert kinds == [1, 1, 1, 1, 1, 165, 164, 167, 163, 166]
