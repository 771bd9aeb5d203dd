"""Applications with Activities that can be launched, for tests."""

from typing import Any

from tests.support.harness import Caller, Platform, Reply


async def make_launchable(owner: Caller, application_id: int, *, released: bool = True, **config: Any) -> None:
    """Enable Activities for an application, map its paths to a target and, unless told otherwise, release it."""
    base = f"/applications/{application_id}"
    assert (await owner.post(f"{base}/set-embedded", {"embedded": True})).status == 204
    mapping = {"prefix": "/", "target": "activity.example.com"}
    assert (await owner.post(f"{base}/proxy-config", {"url_map": [mapping]})).status == 200
    phase = "global_launch" if released else "in_development"
    body = {"client_platform_config": {"web": {"release_phase": phase}}} | config
    reply = await owner.patch(f"{base}/embedded-activity-config", body)
    assert reply.status == 200, reply.body


async def activity(platform: Platform, owner: Caller, **config: Any) -> Caller:
    """The bot of a new application with a released Activity."""
    bot = await platform.bot(owner)
    await make_launchable(owner, bot.id, **config)
    return bot


async def launch(who: Caller, bot: Caller, channel_id: int, session: str) -> Reply:
    """Launch an application's Activity in a channel."""
    return await who.post(f"/activities/{int(channel_id)}/{bot.id}", {"session_id": session})


async def leave(who: Caller, instance: dict[str, Any], session: str) -> Reply:
    """Leave an instance, as EMBEDDED_ACTIVITY_UPDATE_V2 announced it."""
    application, location = instance["application_id"], instance["location"]["id"]
    path = f"/applications/{application}/activities/{location}/instances/{instance['instance_id']}/leave"
    return await who.post(path, {"session_id": session})


def updates(platform: Platform) -> list[dict[str, Any]]:
    """The instances announced so far."""
    return platform.heard_data("EMBEDDED_ACTIVITY_UPDATE_V2")


def users(instance: dict[str, Any]) -> list[int]:
    """The participants of an announced instance."""
    return [int(each["user_id"]) for each in instance["participants"]]
