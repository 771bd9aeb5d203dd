"""The mail server, the picture and the storage as operators set them while the server runs."""

import base64
from io import BytesIO

import pytest
from PIL import Image

from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.mail.sender import MailSender
from moothall.resources.message.attachment.sweeper import GRACE_MS, FileSweeper
from moothall.resources.server_setting.queries import select_settings
from moothall.resources.server_setting.running import RunningSettings
from tests.support.harness import Caller, Platform
from tests.support.mail_server import deliver_all, mail_server
from tests.support.operators import claim_token, log_rows, make_operator

SETTINGS, OPERATORS = OperatorPermission.SETTINGS, OperatorPermission.OPERATORS
MAIL: dict[str, object] = {"smtp_host": "127.0.0.1", "smtp_tls": "none", "mail_from": "hall@moot.example"}


async def value(operator: Caller, name: str) -> object:
    settings = (await operator.get("/admin/v1/settings")).json
    return next(each["value"] for each in settings if each["name"] == name)


async def test_mail_is_sent_by_the_server_that_operators_have_set(platform: Platform) -> None:
    operator = await make_operator(platform)
    person = await platform.person(email="bob@example.org", verified=True)
    async with mail_server() as server:
        assert (await operator.patch("/admin/v1/settings", MAIL | {"smtp_port": server.port})).status == 200
        check = await operator.post("/admin/v1/mail/test", {"address": "olga@moot.example"})
        assert (check.json["ok"], check.json["where"]) == (True, f"127.0.0.1 port {server.port}")
        await platform.anonymous.post("/auth/forgot", {"login": person.name})
        await deliver_all(platform)
        assert [str(mail["To"]) for mail in server.mails] == ["olga@moot.example", "bob@example.org"]
        server.refusal = "550 no such mailbox"
        check = await operator.post("/admin/v1/mail/test", {"address": "nobody@moot.example"})
        assert (check.json["ok"], "no such mailbox" in check.json["problem"]) == (False, True)
    assert [row.act for row in (await log_rows(platform))[1:]] == ["setting.change", "mail.test", "mail.test"]


async def test_the_password_of_the_mail_server_is_stored_encrypted_and_never_shown(platform: Platform) -> None:
    operator = await make_operator(platform)
    body = MAIL | {"smtp_user": "hall", "smtp_password": "secret"}
    reply = await operator.patch("/admin/v1/settings", body)
    assert reply.status == 200, reply.json
    assert await value(operator, "smtp_password") == "***"
    async with platform.database.read() as reader:
        assert all("secret" not in row.value for row in await select_settings(reader))
    assert all("secret" not in row.changes for row in await log_rows(platform))
    async with platform.database.read() as reader:
        # Another process, or a later start, opens the stored password.
        platform.services.resources[MailSender].config = None
        running = platform.services.resources[RunningSettings]
        running.apply([])
        await running.load(reader)
    config = platform.services.resources[MailSender].config
    assert config is not None
    assert (config.user, config.password) == ("hall", "secret")


async def test_another_mail_server_gets_no_password_of_the_one_before(platform: Platform) -> None:
    operator = await make_operator(platform)
    body = MAIL | {"smtp_user": "hall", "smtp_password": "secret"}
    await operator.patch("/admin/v1/settings", body)
    assert (await operator.patch("/admin/v1/settings", {"smtp_host": "mail.evil.example"})).status == 200
    assert [await value(operator, name) for name in ("smtp_user", "smtp_password")] == [None, None]
    config = platform.services.resources[MailSender].config
    assert config is not None
    assert (config.host, config.user, config.password) == ("mail.evil.example", None, None)
    assert (await operator.patch("/admin/v1/settings", {"smtp_host": None})).status == 200
    assert [await value(operator, name) for name in MAIL] == [None, "starttls", None]
    assert platform.services.resources[MailSender].config is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"mail_from": None}, "mail_from"),
        ({"mail_from": "häll@moot.example"}, "mail_from"),
        ({"smtp_user": "hall"}, "smtp_password"),
        ({"smtp_password": "secret"}, "smtp_user"),
        ({"smtp_host": "mail.example.org", "smtp_user": "hall", "smtp_password": "secret"}, "smtp_tls"),
        ({"smtp_host": None, "mail_from": "hall@moot.example"}, "smtp_host"),
        ({"smtp_host": "two words"}, "smtp_host"),
    ],
)
async def test_settings_of_mail_that_contradict_each_other_are_refused(
    platform: Platform, changes: dict[str, object], field: str
) -> None:
    operator = await make_operator(platform)
    reply = await operator.patch("/admin/v1/settings", MAIL | changes)
    assert (reply.status, reply.errors_at(field) != []) == (400, True), reply.json
    assert platform.services.resources[MailSender].config is None


async def test_who_makes_no_operators_does_not_choose_who_reads_the_mail(platform: Platform) -> None:
    operator = await make_operator(platform, SETTINGS)
    assert (await operator.patch("/admin/v1/settings", MAIL)).code == 50013
    assert (await operator.post("/admin/v1/mail/test", {"address": "a@moot.example"})).code == 50013
    other = await make_operator(platform, SETTINGS, OPERATORS)
    assert (await other.patch("/admin/v1/settings", MAIL)).status == 200


async def test_the_picture_of_the_instance_is_stored_and_stays(platform: Platform) -> None:
    operator = await make_operator(platform, SETTINGS)
    data = BytesIO()
    Image.new("RGB", (8, 8), "red").save(data, "PNG")
    uri = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
    assert (await operator.patch("/admin/v1/settings", {"instance_icon": uri})).status == 200
    name = await value(operator, "instance_icon")
    assert platform.services.limits.instance_icon == name
    sweeper = FileSweeper(platform.services)
    for times in (1, 3, 5):
        await sweeper.remove_unnamed_media(now=Timestamp(Timestamp.now() + times * GRACE_MS))
    assert await platform.services.blobs.exists(f"images/{name}")
    assert (await operator.patch("/admin/v1/settings", {"instance_icon": "data:image/png;base64,AAAA"})).status == 400
    assert (await operator.patch("/admin/v1/settings", {"instance_icon": None})).status == 200
    assert platform.services.limits.instance_icon is None


async def test_the_check_of_storage_leaves_nothing_behind(platform: Platform) -> None:
    operator = await make_operator(platform, SETTINGS)
    check = await operator.post("/admin/v1/storage/check")
    assert (check.status, check.json["ok"], check.json["problem"]) == (200, True, None)
    assert [key async for key in platform.services.blobs.keys("checks")] == []


async def test_the_link_for_the_first_operator_can_be_looked_at_without_using_it(platform: Platform) -> None:
    token = await claim_token(platform)
    for _ in range(2):
        assert (await platform.anonymous.post("/admin/v1/setup/check", {"token": token})).json == {"good": True}
    assert (await platform.anonymous.post("/admin/v1/setup/check", {"token": "x"})).json == {"good": False}
    made = await platform.anonymous.post(
        "/admin/v1/setup", {"token": token, "username": "olga", "password": "correct horse battery"}
    )
    assert made.status == 201
    assert platform.services.limits.registration == "open"
    assert (await platform.anonymous.post("/admin/v1/setup/check", {"token": token})).json == {"good": False}
