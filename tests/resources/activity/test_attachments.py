"""Images that Activities upload."""

from moothall.api.jobs import MAX_TRANSACTION_MS, JobRunner
from moothall.objects import limits
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.sweeper import FileSweeper
from tests.api.forms import TYPE, form, part
from tests.resources.activity.activities import activity
from tests.resources.interaction.scenario import Scenario
from tests.support.harness import Caller, Platform, Reply
from tests.support.pictures import PNG

_MINUTE_MS = 60_000
_DAY_MS = 1440 * _MINUTE_MS


async def upload(who: Caller, application_id: int, data: bytes = PNG, *, name: str = "file") -> Reply:
    return await who.request(
        "POST",
        f"/applications/{application_id}/attachment",
        raw=form(part(name, data, "moment.png")),
        content_type=TYPE,
    )


async def test_an_image_is_kept_for_a_day(platform: Platform) -> None:
    owner = await platform.person()
    bot = await activity(platform, owner)
    bearer = await platform.bearer(await platform.person(), bot.id, "identify")
    reply = await upload(bearer, bot.id)
    assert reply.status == 200, reply.body
    attachment = reply.json["attachment"]
    assert (attachment["filename"], attachment["content_type"], attachment["size"]) == (
        "moment.png",
        "image/png",
        len(PNG),
    )
    scenario = Scenario(platform, None, None, owner)  # type: ignore[arg-type]
    assert await scenario.fetch(attachment["url"]) == PNG
    assert await scenario.fetch(attachment["url"].partition("?")[0]) is None
    jobs = JobRunner(platform.services)
    await jobs.drain(Timestamp(Timestamp.now() + _DAY_MS - _MINUTE_MS))
    await FileSweeper(platform.services).sweep()
    assert await scenario.fetch(attachment["url"]) == PNG
    await jobs.drain(Timestamp(Timestamp.now() + _DAY_MS + MAX_TRANSACTION_MS))
    await FileSweeper(platform.services).sweep()
    assert await scenario.fetch(attachment["url"]) is None


async def test_tokens_of_other_applications_and_other_files_are_refused(platform: Platform) -> None:
    owner = await platform.person()
    bot, other = await activity(platform, owner), await activity(platform, owner)
    foreign = await platform.bearer(owner, other.id, "identify")
    for who in (foreign, other):
        assert (await upload(who, bot.id)).code == 20012
    assert (await upload(bot, bot.id)).status == 200
    assert (await upload(owner, bot.id)).status == 200
    assert (await upload(bot, bot.id, b"no image")).code == 50046
    assert (await upload(bot, bot.id, b"\x89PNG\r\n\x1a\n but no image")).code == 50046
    assert (await upload(bot, bot.id, name="picture")).code == 50035
    assert (await upload(bot, bot.id, PNG + bytes(limits.ACTIVITY_ATTACHMENT_MAX))).code == 40005
    empty = await bot.post(f"/applications/{bot.id}/attachment", raw=form(), content_type=TYPE)
    assert empty.code == 50035
    await owner.post(f"/applications/{bot.id}/set-embedded", {"embedded": False})
    assert (await upload(bot, bot.id)).code == 50035
