"""What operators tell everyone: shown until it ends, and at most a few at once."""

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.ids import Snowflake
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.announcement import queries
from moothall.resources.announcement.operations import MAX_PRESENT
from tests.support.harness import Caller, Platform
from tests.support.operators import acts, make_operator

ANNOUNCEMENTS = OperatorPermission.ANNOUNCEMENTS
PATH = "/admin/v1/announcements"


async def shown(caller: Caller) -> list[str]:
    return [each["content"] for each in (await caller.get("/announcements")).json]


async def test_everyone_sees_an_announcement_until_it_is_taken_back(platform: Platform) -> None:
    operator, person = await make_operator(platform, ANNOUNCEMENTS), await platform.person()
    made = await operator.post(PATH, {"content": "  Down at noon ", "hours": 2, "urgent": True}, reason="update")
    assert (made.status, made.json["content"], made.json["created_by"]) == (201, "Down at noon", str(operator.id))
    reply = await person.get("/announcements")
    assert [(each["content"], each["urgent"]) for each in reply.json] == [("Down at noon", True)]
    assert "created_by" not in reply.json[0]
    ended = await operator.delete(f"{PATH}/{made.json['id']}")
    assert ended.status == 200
    assert await shown(person) == []
    assert [each["id"] for each in (await operator.get(PATH)).json] == [made.json["id"]]
    # A second time changes nothing.
    assert (await operator.delete(f"{PATH}/{made.json['id']}")).json == ended.json
    assert await acts(platform) == ["operator.add", "announcement.create", "announcement.end"]


async def test_an_announcement_ends_by_itself(platform: Platform) -> None:
    operator, person = await make_operator(platform, ANNOUNCEMENTS), await platform.person()
    made = (await operator.post(PATH, {"content": "soon over", "hours": 1})).json

    async def end(ctx: Context) -> None:
        await queries.end_announcement(ctx.tx, Snowflake(int(made["id"])), Timestamp(ctx.now - 1))

    assert await shown(person) == ["soon over"]
    await unit_of_work.run(platform.services, ANONYMOUS, end, fires=())
    assert await shown(person) == []


async def test_words_are_demanded_and_only_a_few_are_shown_at_once(platform: Platform) -> None:
    operator = await make_operator(platform, ANNOUNCEMENTS)
    assert (await operator.post(PATH, {"content": " ", "hours": 1})).errors_at("content") == ["BASE_TYPE_REQUIRED"]
    for number in range(MAX_PRESENT):
        assert (await operator.post(PATH, {"content": f"{number}", "hours": 1})).status == 201
    assert (await operator.post(PATH, {"content": "more", "hours": 1})).code == 50035
    assert len((await operator.get(PATH)).json) == MAX_PRESENT
    assert (await operator.delete(f"{PATH}/1")).status == 404
