"""Webhooks in threads and forums (api.md, Execute Webhook)."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.thread.thread_guild import PRIVATE, ThreadGuild, id_of, tag, thread_guild
from tests.resources.webhook.github.payloads import pushed
from tests.support.harness import Platform

REQUIRE_TAG = 1 << 4


async def hook_in(at: ThreadGuild, channel_id: int) -> str:
    """A webhook's path."""
    made = (await at.owner.post(f"/channels/{channel_id}/webhooks", {"name": "Herald"})).json
    at.platform.heard.clear()
    return f"/webhooks/{made['id']}/{made['token']}"


async def test_a_webhook_starts_a_post_and_owns_it(platform: Platform) -> None:
    at = await thread_guild(platform)
    tags = [tag(platform.ids.next(), "a"), tag(platform.ids.next(), "b", moderated=True)]
    forum = await at.forum(available_tags=tags, default_auto_archive_duration=60, flags=REQUIRE_TAG)
    hook = await hook_in(at, forum)
    body = {"content": f"hear <@{at.bob.id}>", "thread_name": "news", "applied_tags": [tags[1]["id"]]}
    sent = (await platform.anonymous.post(hook, body, wait=True)).json
    assert platform.heard_names == ["THREAD_CREATE", "MESSAGE_CREATE"]
    assert sent["channel_id"] == sent["id"]
    post = (await at.bob.get(f"/channels/{sent['id']}")).json
    assert (post["owner_id"], post["name"], post["parent_id"]) == (sent["webhook_id"], "news", str(forum))
    assert (post["applied_tags"], post["thread_metadata"]["auto_archive_duration"]) == ([tags[1]["id"]], 60)
    assert (post["message_count"], post["member_count"]) == (0, 0)
    assert (await at.bob.get(f"/channels/{forum}")).json["last_message_id"] == sent["id"]
    results = (await at.bob.get(f"/channels/{forum}/threads/search", tag=tags[1]["id"])).json
    assert [message["id"] for message in results["first_messages"]] == [sent["id"]]
    path = f"{hook}/messages/{sent['id']}"
    edited = await platform.anonymous.patch(path, {"content": "amended"}, thread_id=sent["id"])
    assert edited.json["content"] == "amended"
    assert (await platform.anonymous.delete(path, thread_id=sent["id"])).status == 204


async def test_an_invalid_post_is_refused_and_not_created(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum(available_tags=[tag(platform.ids.next(), "a")], flags=REQUIRE_TAG)
    hook = await hook_in(at, forum)
    for more, field in (
        ({"applied_tags": ["5"]}, "applied_tags.0"),
        ({"applied_tags": "x"}, "applied_tags"),
        ({"thread_name": "x" * 101}, "thread_name"),
        ({"thread_name": "\u200b"}, "thread_name"),
    ):
        body = {"content": "x", "thread_name": "y", "applied_tags": ["5"], **more}
        assert (await platform.anonymous.post(hook, body)).errors_at(field), field
    assert (await platform.anonymous.post(hook, {"content": "x", "thread_name": "y"})).code == 40067
    assert (await platform.anonymous.post(hook, {"content": "x"})).code == 220001
    assert (await platform.anonymous.post(hook, {"content": "x", "thread_name": ""})).code == 220001
    assert (await platform.anonymous.post(hook, {"content": "", "thread_name": "y", "applied_tags": []})).status == 400
    assert platform.heard == []
    assert (await at.bob.get(f"/guilds/{at.guild.id}/threads/active")).json["threads"] == []


BODIES: list[tuple[str, Any, dict[str, str]]] = [
    ("", {"content": "x"}, {}),
    ("/slack", {"text": "x"}, {}),
    ("/github", pushed(), {"X-GitHub-Event": "push"}),
]


@pytest.mark.parametrize(("row", "body", "headers"), BODIES, ids=["own", "slack", "github"])
async def test_every_way_to_send_a_message_unarchives_a_thread_and_notifies_its_members(
    platform: Platform, row: str, body: Any, headers: dict[str, str]
) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    await at.bob.patch(thread, {"archived": True})
    hook = await hook_in(at, at.guild.general)
    reply = await platform.anonymous.post(f"{hook}{row}", body, thread_id=id_of(thread), headers=list(headers.items()))
    assert reply.status < 300
    assert platform.heard_names == ["THREAD_UPDATE", "THREAD_MEMBER_UPDATE", "MESSAGE_CREATE"]
    assert (await at.bob.get(thread)).json["message_count"] == 1


async def test_a_webhooks_message_in_a_private_thread_goes_only_to_its_members(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob, PRIVATE)
    hook = await hook_in(at, at.guild.general)
    sent = (await platform.anonymous.post(hook, {"content": "x"}, thread_id=id_of(thread), wait=True)).json
    path = f"{hook}/messages/{sent['id']}"
    await platform.anonymous.patch(path, {"content": "y"}, thread_id=id_of(thread))
    await platform.anonymous.delete(path, thread_id=id_of(thread))
    assert platform.heard_names == ["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"]
    assert {tuple(envelope.user_ids) for envelope in platform.heard} == {(int(at.bob.id),)}


async def test_a_webhook_edits_nothing_in_an_archived_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    hook = await hook_in(at, at.guild.general)
    sent = (await platform.anonymous.post(hook, {"content": "x"}, thread_id=id_of(thread), wait=True)).json
    await at.bob.patch(thread, {"archived": True})
    path = f"{hook}/messages/{sent['id']}"
    assert (await platform.anonymous.patch(path, {"content": "y"}, thread_id=id_of(thread))).code == 50083
    assert (await platform.anonymous.delete(path, thread_id=id_of(thread))).status == 204


async def test_a_webhook_needs_no_permissions(platform: Platform) -> None:
    at = await thread_guild(platform, everyone=Permissions.VIEW_CHANNEL)
    hook = await hook_in(at, await at.forum())
    assert (await platform.anonymous.post(hook, {"content": "x", "thread_name": "y"})).status == 204
