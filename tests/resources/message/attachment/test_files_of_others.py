"""Files of others: nothing that a client writes makes the server sign the URL of a file that its writer cannot read."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.api.file_links import FileLinks
from moothall.api.jobs import JobRunner
from moothall.objects.ids import Snowflake, snowflake_at
from moothall.objects.permissions import Permissions
from tests.oauth2.flow import application
from tests.resources.component.trees import container, gallery, link, row, section, thumbnail
from tests.resources.interaction.scenario import Scenario, install
from tests.resources.message.attachment.uploading import guild_of, listed, picture, send, upload
from tests.resources.message.messaging import bot_of, member_of, say
from tests.resources.webhook.github.payloads import SUPPORTED_EVENTS
from tests.support.component_messages import EVERY_FLAG, V2
from tests.support.fetched_files import get
from tests.support.harness import ANNOUNCEMENT, SERVER_KEY, Caller, Guild, Platform, Reply

BASE: Final = "http://localhost:3333/attachments"
NAME: Final = "minutes.png"
HIDDEN: Final = int(Permissions.VIEW_CHANNEL)
DAY: Final = 24 * 3600


class Scene:
    """A guild whose moderators have a file in a channel of theirs, and a member who sees only the other channel."""

    def __init__(self, platform: Platform, guild: Guild, spy: Caller, secret: dict[str, Any], own: Any) -> None:
        self.platform = platform
        self.guild = guild
        self.spy = spy
        self.secret = secret
        """The moderators' attachment."""
        self.own: dict[str, Any] = own
        """An attachment of the spy's, in the channel that everyone sees."""
        self.url = f"/channels/{guild.general}/messages"
        self.path = secret["url"].partition("?")[0]
        """The URL of the moderators' file, without what makes it good."""

    def spellings(self) -> dict[str, str]:
        """URLs that the spy can write once they know or guess the file's id; channel and name are no secrets."""
        file_id, query = self.secret["id"], self.own["url"].partition("?")[2]
        mine = f"{BASE}/{self.guild.general}/{file_id}"
        return {
            "in the spy's channel": f"{mine}/a",
            "in the spy's channel by its name": f"{mine}/{NAME}",
            "in the spy's channel with a signature of the spy's file": f"{mine}/{NAME}?{query}",
            "where it is": self.path,
            "where it is with another name": self.path.replace(NAME, "b.png"),
            "where it is with a made up signature": f"{self.path}?ex=ffffffff&is=0&hm={'00' * 32}",
            "where it is with a signature of the spy's file": f"{self.path}?{query}",
            "in the channel of its number with zeros": f"{BASE}/0{self.guild.general}/0{file_id}/{NAME}",
        }

    async def opened(self, *seen: Any) -> list[str]:
        """The URLs of the moderators' file in what the spy sees that are signed, or answered with it."""
        urls = {url for each in seen for url in urls_in(each) if self.secret["id"] in url}
        return [url for url in sorted(urls) if self.is_signed(url) or (await get(self.platform, url)).status != 404]

    def is_signed(self, url: str) -> bool:
        """Whether a URL was signed by the server."""
        links = self.platform.services.links
        path = links.find(url)
        return path is not None and links.is_authentic(path, url.partition("?")[2], expired=True)


def urls_in(data: Any) -> Iterator[str]:
    """Every URL of a file in JSON, wherever it stands."""
    if isinstance(data, dict):
        for value in data.values():
            yield from urls_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from urls_in(value)
    elif isinstance(data, str) and data.startswith(BASE):
        yield data


async def scene_of(platform: Platform) -> Scene:
    owner, guild, _ = await guild_of(platform, features=["NEWS"])
    moderators = await guild.channel(name="moderators", overwrites=[(guild.id, 0, 0, HIDDEN)])
    (secret,) = (await send(owner, f"/channels/{moderators}/messages", (NAME, picture())))["attachments"]
    spy = await member_of(platform, guild)
    (own,) = (await send(spy, f"/channels/{guild.general}/messages", ("own.png", picture())))["attachments"]
    assert (await get(platform, secret["url"])).body == picture()
    assert (await spy.get(f"/channels/{moderators}/messages")).status == 403
    platform.heard.clear()
    return Scene(platform, guild, spy, secret, own)


# Where a URL can be written. Each answers what the spy sees afterwards; a refusal shows nothing.

Way = Callable[[Scene, str], Awaitable[list[Any]]]


async def seen_after(scene: Scene, *replies: Reply) -> list[Any]:
    """What requests are answered, and what the spy hears and reads afterwards."""
    heard = [json.loads(bytes(envelope.data)) for envelope in scene.platform.heard]
    history = (await scene.spy.get(scene.url)).json
    return [*(reply.json for reply in replies if reply.body), heard, history]


def in_embed(make: Callable[[str], dict[str, Any]]) -> Way:
    async def post(scene: Scene, url: str) -> list[Any]:
        return await seen_after(scene, await scene.spy.post(scene.url, {"content": "x", "embeds": [make(url)]}))

    return post


def in_component(make: Callable[[str], dict[str, Any]]) -> Way:
    async def post(scene: Scene, url: str) -> list[Any]:
        bot = await bot_of(scene.platform, scene.guild, flags=EVERY_FLAG)
        return await seen_after(scene, await bot.post(scene.url, {"flags": V2, "components": [make(url)]}))

    return post


async def in_suppressed_embed(scene: Scene, url: str) -> list[Any]:
    body = {"content": "x", "flags": 1 << 2, "embeds": [{"image": {"url": url}}]}
    sent = await scene.spy.post(scene.url, body)
    shown = await scene.spy.patch(f"{scene.url}/{sent.json['id']}", {"flags": 0})
    return await seen_after(scene, sent, shown)


async def in_edit(scene: Scene, url: str) -> list[Any]:
    message = await say(scene.spy, scene.url)
    edited = await scene.spy.patch(f"{scene.url}/{message['id']}", {"embeds": [{"image": {"url": url}}]})
    return await seen_after(scene, edited)


async def beside_own_file(scene: Scene, url: str) -> list[Any]:
    body = {"embeds": [{"image": {"url": url}, "thumbnail": {"url": "attachment://own.png"}}]}
    sent = await upload(scene.spy, "POST", scene.url, listed(("own.png", picture())), body)
    edited = await scene.spy.patch(f"{scene.url}/{sent.json['id']}", {"embeds": [{"image": {"url": url}}]})
    return await seen_after(scene, sent, edited)


async def edited_into_file_component(scene: Scene, url: str) -> list[Any]:
    bot = await bot_of(scene.platform, scene.guild, flags=EVERY_FLAG)
    sent = await bot.post(scene.url, {"flags": V2, "components": [gallery(url)]})
    path = f"{scene.url}/{sent.json['id']}"
    edited = await bot.patch(path, {"components": [gallery(url), {"type": 13, "file": {"url": url}}]})
    return await seen_after(scene, sent, edited)


async def hook_of(scene: Scene) -> str:
    hook = (await scene.guild.owner.post(f"/channels/{scene.guild.general}/webhooks", {"name": "Hook"})).json
    return f"/webhooks/{hook['id']}/{hook['token']}"


async def by_webhook(scene: Scene, url: str) -> list[Any]:
    hook, anonymous = await hook_of(scene), scene.platform.anonymous
    body = {"avatar_url": url, "embeds": [{"image": {"url": url}, "footer": {"text": "x", "icon_url": url}}]}
    sent = await anonymous.post(hook, body, wait=True)
    plain = await anonymous.post(hook, {"content": "x"}, wait=True)
    edited = await anonymous.patch(f"{hook}/messages/{plain.json['id']}", {"embeds": [{"thumbnail": {"url": url}}]})
    return await seen_after(scene, sent, edited)


async def by_webhook_gallery(scene: Scene, url: str) -> list[Any]:
    body = {"flags": V2, "components": [container(gallery(url))]}
    sent = await scene.platform.anonymous.post(await hook_of(scene), body, wait=True, with_components=True)
    return await seen_after(scene, sent)


async def by_slack_webhook(scene: Scene, url: str) -> list[Any]:
    pictures = {"image_url": url, "thumb_url": url, "author_icon": url, "footer_icon": url, "title_link": url}
    body = {"text": "x", "icon_url": url, "attachments": [{"text": "x", "author_name": "x", "footer": "x", **pictures}]}
    sent = await scene.platform.anonymous.post(f"{await hook_of(scene)}/slack", body)
    assert sent.status == 200
    return await seen_after(scene)


async def by_github_webhook(scene: Scene, url: str) -> list[Any]:
    kind, payload, _ = SUPPORTED_EVENTS["push"]
    payload = {**payload, "sender": {"login": "octo", "html_url": url, "avatar_url": url}}
    headers = [("x-github-event", kind)]
    sent = await scene.platform.anonymous.post(f"{await hook_of(scene)}/github", payload, headers=headers)
    assert sent.status == 204
    return await seen_after(scene)


async def forwarded(scene: Scene, url: str) -> list[Any]:
    message = await say(scene.spy, scene.url, embeds=[{"image": {"url": url}}])
    reference = {"type": 1, "message_id": message["id"], "channel_id": message["channel_id"]}
    return await seen_after(scene, await scene.spy.post(scene.url, {"message_reference": reference}))


async def crossposted(scene: Scene, url: str) -> list[Any]:
    owner = scene.guild.owner
    news = await scene.guild.channel(type=ANNOUNCEMENT)
    body = {"webhook_channel_id": str(scene.guild.general)}
    assert (await owner.post(f"/channels/{news}/followers", body)).status == 200
    path = f"/channels/{news}/messages"
    url = url.replace(f"/{scene.guild.general}/", f"/{news}/")
    message = await say(scene.spy, path, embeds=[{"image": {"url": url}}])
    assert (await owner.post(f"{path}/{message['id']}/crosspost")).status == 200
    await JobRunner(scene.platform.services).drain()
    return await seen_after(scene)


async def by_interaction(scene: Scene, url: str) -> list[Any]:
    scenario = Scenario(scene.platform, scene.guild, await requested_application(scene), scene.spy)
    interaction = await scenario.use_command(await scenario.create_command())
    embeds = [{"image": {"url": url}}]
    answered = await scenario.respond(interaction, 4, {"embeds": embeds}, with_response=True)
    edited = await scene.platform.anonymous.patch(
        scenario.webhook_path(interaction, "/messages/@original"), {"embeds": [{"thumbnail": {"url": url}}]}
    )
    followed = await scene.platform.anonymous.post(
        scenario.webhook_path(interaction), {"flags": 1 << 6, "embeds": embeds}
    )
    room = url.replace(f"/{scene.guild.general}/", f"/{interaction['id']}/")
    in_room = {"flags": 1 << 6, "embeds": [{"image": {"url": room}}]}
    ephemeral = await scene.platform.anonymous.post(scenario.webhook_path(interaction), in_room)
    return await seen_after(scene, answered, edited, followed, ephemeral)


async def requested_application(scene: Scene) -> Any:
    app = await application(scene.platform)
    await install(scene.guild.owner, app, scene.guild)
    return app


WAYS: Final[dict[str, Way]] = {
    "an embed's image": in_embed(lambda url: {"image": {"url": url}}),
    "an embed's thumbnail": in_embed(lambda url: {"thumbnail": {"url": url}}),
    "an embed's footer icon": in_embed(lambda url: {"footer": {"text": "x", "icon_url": url}}),
    "an embed's author icon": in_embed(lambda url: {"author": {"name": "x", "icon_url": url}}),
    "an embed's links": in_embed(lambda url: {"title": "x", "url": url, "author": {"name": "x", "url": url}}),
    "a suppressed embed": in_suppressed_embed,
    "an edit": in_edit,
    "an embed beside a file of the message": beside_own_file,
    "a media gallery": in_component(gallery),
    "a gallery in a container": in_component(lambda url: container(gallery(url))),
    "a thumbnail component": in_component(lambda url: section(accessory=thumbnail(url))),
    "a link button": in_component(lambda url: row(link(url=url))),
    "a file component": in_component(lambda url: {"type": 13, "file": {"url": url}}),
    "a file component of an edit": edited_into_file_component,
    "a webhook's embed": by_webhook,
    "a webhook's gallery": by_webhook_gallery,
    "a Slack webhook": by_slack_webhook,
    "a GitHub webhook": by_github_webhook,
    "a forward": forwarded,
    "a crosspost": crossposted,
    "an interaction's answers": by_interaction,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_foreign_file_is_not_read_by_writing_its_url_into(platform: Platform, way: str) -> None:
    scene = await scene_of(platform)
    opened = {}
    for spelling, url in scene.spellings().items():
        scene.platform.heard.clear()
        if urls := await scene.opened(*await WAYS[way](scene, url)):
            opened[spelling] = urls
    assert opened == {}
    assert (await get(platform, scene.secret["url"])).status == 200


async def test_seven_guesses_from_the_time_do_not_find_a_file_of_a_moderators_channel(platform: Platform) -> None:
    scene = await scene_of(platform)
    moment = Snowflake(int(scene.secret["id"])).created_ms
    statuses = []
    for guess in map(snowflake_at, range(moment - 3, moment + 4)):
        embeds = [{"image": {"url": f"{BASE}/{scene.guild.general}/{guess}/a"}}]
        (embed,) = (await scene.spy.post(scene.url, {"embeds": embeds})).json["embeds"]
        statuses.append((await get(platform, embed["image"]["url"])).status)
    assert statuses == [404] * 7


async def test_ids_of_files_do_not_follow_from_the_time_and_keep_their_order(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    names = [f"{n}.txt" for n in range(10)]
    message = await send(owner, url, *((name, b"x") for name in names), body={"content": "x"})
    ids = [int(attachment["id"]) for attachment in message["attachments"]]
    assert len({file_id & ((1 << 22) - 1) for file_id in ids}) == 10
    assert not any(file_id == snowflake_at(Snowflake(file_id).created_ms) for file_id in ids)
    # An edit takes the files from where they are kept, in the order of their ids.
    edited = (await upload(owner, "PATCH", f"{url}/{message['id']}", {}, {"content": "y", "embeds": []})).json
    assert [attachment["filename"] for attachment in edited["attachments"]] == names


async def test_a_file_from_before_one_came_is_not_read_without_its_history_by_its_bare_url(platform: Platform) -> None:
    everyone = Permissions.DEFAULT & ~Permissions.READ_MESSAGE_HISTORY
    owner, guild, url = await guild_of(platform, everyone=int(everyone))
    (attachment,) = (await send(owner, url, (NAME, picture())))["attachments"]
    bare = attachment["url"].partition("?")[0]
    newcomer = await member_of(platform, guild)
    assert (await newcomer.get(url)).json == []
    sent = (await newcomer.post(url, {"embeds": [{"image": {"url": bare}}]})).json
    assert [embed["image"]["url"] for embed in sent["embeds"]] == [bare]
    assert (await get(platform, bare)).status == 404


async def test_an_edit_cannot_name_a_foreign_file_by_its_id(platform: Platform) -> None:
    scene = await scene_of(platform)
    message = await send(scene.spy, scene.url, ("a.txt", b"a"))
    path = f"{scene.url}/{message['id']}"
    for file_id in (scene.secret["id"], scene.own["id"]):
        edited = await scene.spy.patch(path, {"attachments": [{"id": file_id}]})
        assert edited.errors_at("attachments.0.id") == ["BASE_TYPE_CHOICES"]
        sent = await scene.spy.post(scene.url, {"content": "x", "attachments": [{"id": file_id, "filename": NAME}]})
        assert sent.errors_at("attachments.0.id") == ["BASE_TYPE_CHOICES"]
    assert await scene.opened(*await seen_after(scene)) == []


async def test_a_command_cannot_be_given_a_foreign_file(platform: Platform) -> None:
    scene = await scene_of(platform)
    scenario = Scenario(platform, scene.guild, await requested_application(scene), scene.spy)
    command = await scenario.create_command(
        options=[{"type": 11, "name": "file", "description": "x", "required": True}]
    )
    value = {"type": 11, "name": "file", "value": scene.secret["id"]}
    forged = {"attachments": {scene.secret["id"]: {"id": scene.secret["id"], "filename": NAME, "url": scene.path}}}
    for more in ({}, {"attachments": [{"id": scene.secret["id"], "filename": NAME}]}, {"resolved": forged}):
        reply = await scenario.post_command(command, options=[value], **more)
        assert reply.status == 400, reply.body
    assert scenario.events(Snowflake(int(scenario.app.id)), "INTERACTION_CREATE") == []


async def test_a_mark_that_a_client_writes_becomes_no_url(platform: Platform) -> None:
    scene = await scene_of(platform)
    mark = scene.path.replace(BASE, "moothall-file:")
    for name, way in WAYS.items():
        if name in {"a Slack webhook", "a GitHub webhook"}:
            assert await scene.opened(*await way(scene, mark)) == []
    refused = [
        await scene.spy.post(scene.url, {"embeds": [{"title": "x", "url": mark}]}),
        await scene.spy.post(scene.url, {"embeds": [{"image": {"url": mark}}]}),
        await scene.platform.anonymous.post(await hook_of(scene), {"content": "x", "avatar_url": mark}),
    ]
    bot = await bot_of(platform, scene.guild, flags=EVERY_FLAG)
    refused += [
        await bot.post(scene.url, {"flags": V2, "components": [gallery(mark)]}),
        await bot.post(scene.url, {"flags": V2, "components": [row(link(url=mark))]}),
        await bot.patch("/applications/@me", {"terms_of_service_url": mark}),
    ]
    assert [reply.status for reply in refused] == [400] * 6
    body = {"content": f'url":"{mark}"', "embeds": [{"title": f'","url":"{mark}"'}]}
    assert await scene.opened(*await seen_after(scene, await scene.spy.post(scene.url, body))) == []


# What is right, and stays.


async def test_a_url_with_its_own_signature_is_shown_anew_also_when_it_has_expired(platform: Platform) -> None:
    scene = await scene_of(platform)
    clock = FileLinks(SERVER_KEY.subkeys("file links"), "http://localhost:3333", clock=lambda: 1_700_000_000.0)
    path = clock.find(scene.secret["url"])
    assert path is not None
    expired = clock.url(path)
    assert (await get(platform, expired)).status == 404
    for url in (scene.secret["url"], expired):
        # Only those have a whole URL who were shown the file once.
        (embed,) = (await scene.guild.owner.post(scene.url, {"embeds": [{"image": {"url": url}}]})).json["embeds"]
        assert (await get(platform, embed["image"]["url"])).body == picture()
    refreshed = await scene.spy.post("/attachments/refresh-urls", {"attachment_urls": [expired, scene.path]})
    assert [pair["refreshed"] is None for pair in refreshed.json["refreshed_urls"]] == [False, True]


async def test_files_of_the_message_itself_are_shown_by_their_bare_urls(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    message = await send(owner, url, ("a.png", picture()), ("b.txt", b"b"), body={"content": "x"})
    image, text = (attachment["url"].partition("?")[0] for attachment in message["attachments"])
    embed = {"title": "x", "url": text, "image": {"url": image}, "footer": {"text": "x", "icon_url": image}}
    (shown,) = (await owner.patch(f"{url}/{message['id']}", {"embeds": [embed]})).json["embeds"]
    for bare, signed in ((text, shown["url"]), (image, shown["image"]["url"]), (image, shown["footer"]["icon_url"])):
        assert signed.startswith(f"{bare}?ex=")
        assert (await get(platform, signed)).status == 200


async def test_a_forward_has_the_files_of_its_source_and_none_that_its_source_only_shows(platform: Platform) -> None:
    scene = await scene_of(platform)
    owner, elsewhere = scene.guild.owner, f"/channels/{await scene.guild.channel()}/messages"
    original = await send(owner, elsewhere, ("a.png", picture()))
    (attachment,) = original["attachments"]
    shows = await send(owner, scene.url, ("b.png", picture()), body={"embeds": [{"image": {"url": attachment["url"]}}]})
    reference = {"type": 1, "message_id": shows["id"], "channel_id": shows["channel_id"]}
    forward = (await owner.post(elsewhere, {"message_reference": reference})).json["message_snapshots"][0]["message"]
    (own,) = forward["attachments"]
    assert forward["embeds"][0]["image"]["url"] == attachment["url"]
    assert (await owner.delete(f"{elsewhere}/{original['id']}")).status == 204
    assert (await get(platform, attachment["url"])).status == 404
    assert (await owner.delete(f"{scene.url}/{shows['id']}")).status == 204
    assert (await get(platform, own["url"])).status == 200


# Whatever is posted, in whatever order.

_POSTS = st.lists(
    st.tuples(
        st.sampled_from(["post", "edit", "hook", "upload", "forward"]),
        st.sampled_from(["image", "thumbnail", "footer", "author"]),
        st.sampled_from(["mine", "theirs", "zeros", "last"]),
        st.sampled_from([NAME, "own.png", "a"]),
        st.sampled_from(["", "own", "made up", "last"]),
    ),
    min_size=1,
    max_size=8,
)


def _embed(kind: str, url: str) -> dict[str, Any]:
    if kind in {"image", "thumbnail"}:
        return {kind: {"url": url}}
    return (
        {"footer": {"text": "x", "icon_url": url}} if kind == "footer" else {"author": {"name": "x", "icon_url": url}}
    )


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(posts=_POSTS)
async def test_no_sequence_of_posted_urls_opens_a_file_that_their_author_cannot_read(
    platform: Platform, posts: list[tuple[str, str, str, str, str]]
) -> None:
    scene = await scene_of(platform)
    hook = await hook_of(scene)
    message: dict[str, Any] = await say(scene.spy, scene.url)
    last = scene.path
    for way, kind, path_kind, name, signature in posts:
        paths = {
            "mine": f"{BASE}/{scene.guild.general}/{scene.secret['id']}/{name}",
            "theirs": scene.path.replace(NAME, name),
            "zeros": f"{BASE}/00{scene.guild.general}/00{scene.secret['id']}/{name}",
            "last": last.partition("?")[0],
        }
        queries = {
            "": "",
            "own": "?" + scene.own["url"].partition("?")[2],
            "made up": f"?ex=ffffffff&is=0&hm={'0' * 64}&",
            "last": "?" + last.partition("?")[2],
        }
        body = {"content": "x", "embeds": [_embed(kind, paths[path_kind] + queries[signature])]}
        if way == "edit":
            reply = await scene.spy.patch(f"{scene.url}/{message['id']}", body)
        elif way == "hook":
            reply = await platform.anonymous.post(hook, body, wait=True)
        elif way == "upload":
            reply = await upload(scene.spy, "POST", scene.url, listed(("own.png", picture())), body)
        elif way == "forward":
            reference = {"type": 1, "message_id": message["id"], "channel_id": message["channel_id"]}
            reply = await scene.spy.post(scene.url, {"message_reference": reference})
        else:
            reply = await scene.spy.post(scene.url, body)
        if reply.status == 200:
            if way in {"post", "upload"}:
                message = reply.json
            last = next(iter(url for url in urls_in(reply.json) if scene.secret["id"] in url), last)
        assert await scene.opened(*await seen_after(scene, reply)) == []
