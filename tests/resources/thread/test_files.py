"""Files in the first messages of forum posts."""

from tests.resources.message.attachment.uploading import listed, stored, upload
from tests.resources.thread.thread_guild import thread_guild
from tests.support.file_sweeps import sweep
from tests.support.harness import Platform


async def test_the_files_of_a_posts_first_message_are_deleted_with_the_post(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    body = {"name": "map", "message": {"content": "see", "attachments": [{"id": 0, "description": "a map"}]}}
    reply = await upload(at.bob, "POST", f"/channels/{forum}/threads", listed(("map.txt", b"here")), body)
    assert reply.status == 201, reply.body
    message = reply.json["message"]
    (file,) = message["attachments"]
    assert (file["filename"], file["description"], file["size"]) == ("map.txt", "a map", 4)
    assert f"/{message['id']}/" in file["url"]
    assert len(await stored(platform)) == 1
    results = (await at.bob.get(f"/channels/{forum}/threads/search")).json
    assert results["first_messages"][0]["attachments"][0]["id"] == file["id"]
    assert (await at.owner.delete(f"/channels/{message['id']}")).status == 200
    await platform.run_due_jobs()
    assert await sweep(platform) == []


async def test_the_first_message_of_a_webhooks_post_may_have_files(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    made = (await at.owner.post(f"/channels/{forum}/webhooks", {"name": "Herald"})).json
    hook, body = f"/webhooks/{made['id']}/{made['token']}", {"thread_name": "map"}
    reply = await upload(platform.anonymous, "POST", hook, listed(("map.txt", b"here")), body, wait=True)
    assert reply.status == 200, reply.body
    assert reply.json["attachments"][0]["filename"] == "map.txt"


async def test_a_refused_post_leaves_no_file(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    for body in ({"name": "", "message": {"content": "x"}}, {"name": "x"}):
        path = f"/channels/{forum}/threads"
        assert (await upload(at.bob, "POST", path, listed(("map.txt", b"here")), body)).status == 400
    reply = await upload(at.bob, "POST", f"{at.general}/threads", listed(("a", b"b")), {"name": "x", "type": 11})
    assert reply.status == 201
    assert await stored(platform) == []
