"""Components of messages, through the API: who may send them, both modes, edits, mentions, referenced ids."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.component.trees import (
    button,
    container,
    file,
    gallery,
    link,
    row,
    section,
    select,
    separator,
    string_select,
    text,
    thumbnail,
)
from tests.resources.message.messaging import bot_of, guild_of, member_of, say
from tests.support.component_messages import LEGACY, V2, botted, emoji_in
from tests.support.harness import Caller, Platform


async def sent(caller: Caller, url: str, *components: dict[str, Any], **values: Any) -> Any:
    reply = await caller.post(url, {"components": [*components], **values})
    assert reply.status == 200, reply.json
    return reply.json


async def test_rows_are_stored_returned_announced_and_listed(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    message = await sent(bot, url, row(button("a", disabled=False), link()), row(string_select("b")), content="choose")
    rows = message["components"]
    assert [(one["type"], one["id"]) for one in rows] == [(1, 1), (1, 4)]
    assert rows[0]["components"][0] == {
        "type": 2,
        "id": 2,
        "style": 1,
        "label": "x",
        "custom_id": "a",
        "disabled": False,
    }
    assert rows[0]["components"][1]["url"] == "https://example.org"
    assert rows[1]["components"][0]["options"][1] == {"label": "o1", "value": "1"}
    assert platform.heard_data("MESSAGE_CREATE")[0]["components"] == rows
    assert (await bot.get(f"{url}/{message['id']}")).json["components"] == rows
    assert (await bot.get(url)).json[0]["components"] == rows


async def test_a_layout_of_everything_comes_back(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    tree = [
        text("# Harbour"),
        container(
            section(text("a"), text("b"), accessory=thumbnail(description="A lamp", spoiler=True)),
            separator(divider=False, spacing=2),
            gallery("https://example.org/1.png", "https://example.org/2.png"),
            row(button("go")),
            accent_color=0xFF8800,
            spoiler=True,
        ),
        row(select(5, "who", min_values=0, max_values=3, placeholder="Who?")),
    ]
    message = await sent(bot, url, *tree, flags=V2)
    assert message["flags"] & V2
    assert (message["content"], message["embeds"], message["attachments"]) == ("", [], [])
    heading, frame, people = message["components"]
    assert heading == {"type": 10, "id": 1, "content": "# Harbour"}
    assert (frame["accent_color"], frame["spoiler"], frame["id"]) == (0xFF8800, True, 2)
    assert [child["id"] for child in frame["components"]] == [3, 7, 8, 9]
    media = frame["components"][0]["accessory"]["media"]
    assert media["url"] == "https://example.org/a.png"
    assert "/external/" in media["proxy_url"], "readers ask this server for it"
    assert people["components"][0]["min_values"] == 0


async def test_a_users_components_are_ignored(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    message = await say(owner, url, "x", components=[row(button())], flags=V2)
    assert (message["components"], message["flags"]) == ([], 0)
    assert (await owner.post(url, {"components": [row(button())]})).code == 50006
    edited = await owner.patch(f"{url}/{message['id']}", {"components": [row(button())], "flags": V2})
    assert (edited.json["components"], edited.json["flags"]) == ([], 0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", "x"),
        ("embeds", [{"title": "x"}]),
        ("poll", {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "a"}}]}),
    ],
)
async def test_a_layout_has_only_components(platform: Platform, field: str, value: Any) -> None:
    bot, _, url = await botted(platform)
    reply = await bot.post(url, {"components": [text()], "flags": V2, field: value})
    assert (reply.status, reply.errors_at(field)) == (400, [LEGACY])
    assert platform.heard == []


async def test_every_error_is_reported_at_once_and_nothing_is_stored(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    body = {
        "flags": V2,
        "content": "x",
        "embeds": [{"title": "x" * 300}],
        "components": [row({"type": 2, "style": 1}), text("")],
        "allowed_mentions": {"parse": ["nobody"]},
    }
    reply = await bot.post(url, body)
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at("components.0.components.0.custom_id") == ["BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"]
    assert reply.errors_at("components.1.content") == ["BASE_TYPE_BAD_LENGTH"]
    assert reply.errors_at("embeds.0.title")
    assert reply.errors_at("allowed_mentions.parse.0")
    assert (await bot.get(url)).json == []
    assert platform.heard == []


async def test_a_layout_without_components_is_an_empty_message(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    for body in ({"flags": V2}, {"flags": V2, "components": []}, {"components": None}):
        assert (await bot.post(url, body)).code == 50006
    assert (await bot.post(url, {"components": {}})).errors_at("components") == ["LIST_TYPE_CONVERT"]


async def test_rows_alone_are_a_message(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    assert (await sent(bot, url, row(link())))["content"] == ""


async def test_an_edit_replaces_and_removes_components_with_one_event(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    message = await sent(bot, url, row(button("a")), content="x")
    path = f"{url}/{message['id']}"
    with platform.listening() as heard:
        edited = (await bot.patch(path, {"components": [row(button("b"))]})).json
        same = (await bot.patch(path, {"components": [row(button("b"))]})).json
        kept = (await bot.patch(path, {"content": "x"})).json
    assert edited["components"][0]["components"][0]["custom_id"] == "b"
    assert edited["edited_timestamp"] is not None
    assert edited == same == kept
    assert heard == ["MESSAGE_UPDATE"]
    assert platform.heard_data("MESSAGE_UPDATE")[0]["components"] == edited["components"]
    nothings: list[Any] = [[], None]
    for nothing in nothings:
        assert (await bot.patch(path, {"components": nothing})).json["components"] == []
    assert (await bot.patch(path, {"content": None})).code == 50006
    reply = await bot.patch(path, {"components": [row({"type": 2, "style": 1})]})
    assert reply.errors_at("components.0.components.0.custom_id")
    assert (await bot.patch(path, {"components": [text()]})).errors_at("components.0") == ["UNION_TYPE_CHOICES"]


async def test_a_layout_stays_one_whatever_edits_say(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    message = await sent(bot, url, text("one"), flags=V2)
    path = f"{url}/{message['id']}"
    edited = (await bot.patch(path, {"flags": 0, "components": [container(text("two"))]})).json
    assert edited["flags"] & V2
    assert edited["components"][0]["components"][0]["content"] == "two"
    assert (await bot.patch(path, {"content": "x"})).errors_at("content") == [LEGACY]
    assert (await bot.patch(path, {"embeds": [{"title": "x"}]})).errors_at("embeds") == [LEGACY]
    assert (await bot.patch(path, {"content": None, "embeds": []})).json == edited
    nothings: list[Any] = [[], None]
    for nothing in nothings:
        assert (await bot.patch(path, {"components": nothing})).code == 50006
    assert (await bot.get(path)).json == edited


async def test_a_message_becomes_a_layout_once_its_content_and_embeds_are_removed(platform: Platform) -> None:
    bot, _, url = await botted(platform, everyone=Permissions.DEFAULT | Permissions.EMBED_LINKS)
    message = await sent(bot, url, row(button("a")), content="x", embeds=[{"title": "t"}])
    path = f"{url}/{message['id']}"
    becomes: dict[str, Any] = {"flags": V2, "components": [text("now")]}
    refused = await bot.patch(path, becomes)
    assert (refused.status, refused.errors_at("content"), refused.errors_at("embeds")) == (400, [LEGACY], [LEGACY])
    assert (await bot.patch(path, {**becomes, "content": None})).errors_at("embeds") == [LEGACY]
    assert (await bot.patch(path, {**becomes, "embeds": []})).errors_at("content") == [LEGACY]
    assert (await bot.get(path)).json == message
    edited = (await bot.patch(path, {**becomes, "content": None, "embeds": []})).json
    assert (edited["content"], edited["embeds"], edited["flags"]) == ("", [], V2)
    assert edited["components"] == [{"type": 10, "id": 1, "content": "now"}]


async def test_suppressed_embeds_prevent_a_layout_too_and_rows_may_stay(platform: Platform) -> None:
    bot, _, url = await botted(platform, everyone=Permissions.DEFAULT | Permissions.EMBED_LINKS)
    message = await sent(bot, url, row(button("a")), embeds=[{"title": "t"}], flags=1 << 2)
    path = f"{url}/{message['id']}"
    assert (await bot.patch(path, {"flags": V2})).errors_at("embeds") == [LEGACY]
    edited = (await bot.patch(path, {"flags": V2, "embeds": None})).json
    assert (edited["flags"], edited["components"]) == (V2, message["components"])


async def test_moderators_suppress_embeds_and_cannot_make_layouts(platform: Platform) -> None:
    bot, guild, url = await botted(platform)
    message = await sent(bot, url, row(button("a")))
    other = await platform.bot(guild.owner)
    await guild.join(other, roles=[await guild.role(permissions=Permissions.MANAGE_MESSAGES)])
    path = f"{url}/{message['id']}"
    assert (await other.patch(path, {"components": []})).code == 50005
    assert (await other.patch(path, {"flags": V2 | 1 << 2})).json["flags"] == 1 << 2


async def test_text_displays_mention_as_content_does(platform: Platform) -> None:
    bot, guild, url = await botted(platform)
    friend, stranger = await member_of(platform, guild), await platform.person()
    role = await guild.role(mentionable=True)
    await guild.set(name="x")
    said = f"<@{friend.id}> <@&{role}> @everyone `<@{guild.owner.id}>`"
    tree = [container(section(text("``` open"), text(said), accessory=thumbnail()))]
    message = await sent(bot, url, *tree, flags=V2)
    assert [user["id"] for user in message["mentions"]] == [str(friend.id)]
    assert (message["mention_roles"], message["mention_everyone"]) == ([str(role)], True)
    quiet = await sent(bot, url, *tree, flags=V2, allowed_mentions={"parse": []})
    assert (quiet["mentions"], quiet["mention_roles"]) == ([], [])
    path = f"{url}/{message['id']}"
    changed = (await bot.patch(path, {"components": [text(f"<@{guild.owner.id}>")]})).json
    assert [user["id"] for user in changed["mentions"]] == [str(guild.owner.id)]
    assert changed["mention_roles"] == []
    kept = (await bot.patch(path, {"flags": 0})).json
    assert kept == changed
    del stranger


async def test_labels_and_content_of_legacy_messages_mention_only_in_content(platform: Platform) -> None:
    bot, guild, url = await botted(platform)
    message = await sent(bot, url, row(button("a", label=f"<@{guild.owner.id}>")), content="x")
    assert message["mentions"] == []
    mention = await sent(bot, url, row(button("a")), content=f"<@{guild.owner.id}>")
    edited = (await bot.patch(f"{url}/{mention['id']}", {"components": []})).json
    assert edited["mentions"] == mention["mentions"] != []


async def test_a_bot_without_message_content_sees_no_components_of_others(platform: Platform) -> None:
    bot, guild, url = await botted(platform)
    blind = await bot_of(platform, guild)
    message = await sent(bot, url, text("secret"), flags=V2)
    assert (await blind.get(f"{url}/{message['id']}")).json["components"] == []
    own = await sent(blind, url, text("mine"), flags=V2)
    assert (await blind.get(f"{url}/{own['id']}")).json["components"] == own["components"] != []


async def test_emojis_are_those_of_guilds_that_the_bot_is_in(platform: Platform) -> None:
    bot, guild, url = await botted(platform, everyone=Permissions.DEFAULT | Permissions.USE_EXTERNAL_EMOJIS)
    here = await emoji_in(platform, guild, animated=True)
    elsewhere = await platform.guild(guild.owner)
    foreign = await emoji_in(platform, elsewhere)
    tree = [row(button("a", emoji={"id": str(here), "name": "old name"}))]
    message = await sent(bot, url, *tree)
    assert message["components"][0]["components"][0]["emoji"] == {"id": str(here), "name": "ship", "animated": True}
    tree = [row(string_select(options=[{"label": "a", "value": "a", "emoji": {"id": str(foreign), "name": "x"}}]))]
    reply = await bot.post(url, {"components": tree})
    assert reply.errors_at("components.0.components.0.options.0.emoji.id") == ["BUTTON_COMPONENT_INVALID_EMOJI"]
    await elsewhere.join(bot)
    assert (await bot.post(url, {"components": tree})).status == 200
    standard = await sent(bot, url, row(button("a", emoji={"name": "⚓", "id": None})))
    assert standard["components"][0]["components"][0]["emoji"] == {"name": "⚓"}


async def test_an_emoji_of_another_guild_needs_its_permission(platform: Platform) -> None:
    plain = Permissions.DEFAULT & ~Permissions.USE_EXTERNAL_EMOJIS
    bot, guild, url = await botted(platform, everyone=plain)
    elsewhere = await platform.guild(guild.owner)
    await elsewhere.join(bot)
    foreign, unavailable = await emoji_in(platform, elsewhere), await emoji_in(platform, guild, available=False)
    for emoji_id in (foreign, unavailable):
        reply = await bot.post(url, {"components": [row(button("a", emoji={"id": str(emoji_id), "name": "x"}))]})
        assert reply.errors_at("components.0.components.0.emoji.id") == ["BUTTON_COMPONENT_INVALID_EMOJI"]


async def test_default_values_are_people_and_the_guilds_own_roles_and_channels(platform: Platform) -> None:
    bot, guild, url = await botted(platform)
    role, channel = await guild.role(), guild.general
    other = await platform.guild(guild.owner)
    foreign_role, foreign_channel = await other.role(), other.general

    def tree(person: int, one_role: int, one_channel: int) -> list[dict[str, Any]]:
        return [
            row(select(5, "u", default_values=[{"id": str(person), "type": "user"}])),
            row(
                select(
                    7,
                    "m",
                    max_values=2,
                    default_values=[{"id": str(person), "type": "user"}, {"id": str(one_role), "type": "role"}],
                )
            ),
            row(select(8, "c", default_values=[{"id": str(one_channel), "type": "channel"}], channel_types=[0, 5])),
        ]

    message = await sent(bot, url, *tree(guild.owner.id, role, channel))
    chosen = [one["components"][0]["default_values"] for one in message["components"]]
    assert chosen[0] == [{"id": str(guild.owner.id), "type": "user"}]
    assert chosen[2] == [{"id": str(channel), "type": "channel"}]
    reply = await bot.post(url, {"components": tree(1, foreign_role, foreign_channel)})
    for path in (
        "0.components.0.default_values.0",
        "1.components.0.default_values.1",
        "2.components.0.default_values.0",
    ):
        assert reply.errors_at(f"components.{path}.id") == ["BASE_TYPE_BAD_TYPE"]


async def test_a_file_that_was_not_sent_cannot_be_shown(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    reply = await bot.post(url, {"flags": V2, "components": [container(file("a.txt")), gallery("attachment://b.png")]})
    missing = ["UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"]
    assert reply.errors_at("components.0.components.0.file.url") == missing
    assert reply.errors_at("components.1.items.0.media.url") == missing
    assert platform.heard == []


async def test_components_are_sent_in_direct_messages_too(platform: Platform) -> None:
    bot, guild, _ = await botted(platform)
    opened = await bot.post("/users/@me/channels", {"recipient_id": str(guild.owner.id)})
    url = f"/channels/{opened.json['id']}/messages"
    message = await sent(bot, url, text(f"hello <@{guild.owner.id}>"), row(button("a")), flags=V2)
    assert [user["id"] for user in message["mentions"]] == [str(guild.owner.id)]
    assert (await guild.owner.get(url)).json[0]["components"] == message["components"]
    wrong = row(select(6, default_values=[{"id": str(guild.id), "type": "role"}]))
    assert (await bot.post(url, {"components": [wrong]})).errors_at("components.0.components.0.default_values.0.id")
