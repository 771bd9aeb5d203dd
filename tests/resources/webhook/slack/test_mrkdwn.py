"""Conversion of Slack's markup, attachments and blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.resources.webhook.slack.attachments import as_embeds, read_color
from moothall.resources.webhook.slack.blocks import render
from moothall.resources.webhook.slack.messages import SlackMessage, execute_body
from moothall.resources.webhook.slack.mrkdwn import translate

CASES = {
    "plain": "plain",
    "*bold* and _it_ and ~gone~": "**bold** and _it_ and ~~gone~~",
    "2*3*4 and a ~ b ~ c": "2*3*4 and a ~ b ~ c",
    "*two words*, (*in brackets*)": "**two words**, (**in brackets**)",
    "<https://example.org/a_b_c?x=1&amp;y=2|the *page*>": "[the **page**](https://example.org/a_b_c?x=1&y=2)",
    "<https://example.org/*a*>": "https://example.org/*a*",
    "<https://example.org|https://example.org>": "https://example.org",
    "<mailto:a@example.org|a@example.org>": "a@example.org",
    "<@U024BE7LH> <@U024BE7LH|bob> <@W1|@ann>": "@U024BE7LH @bob @ann",
    "<@123456789012345678>": "<@123456789012345678>",
    "<#C024BE7LR|general> <#C024BE7LR> <#42>": "#general #C024BE7LR <#42>",
    "<!here> <!channel> <!everyone>": "@here @everyone @everyone",
    "<!subteam^SAZ94GDB8|@crew> <!subteam^SAZ94GDB8>": "@crew @SAZ94GDB8",
    "<!date^1392734382^{date_num} {time_secs}|long ago>": "<t:1392734382:d> <t:1392734382:T>",
    "<!date^1392734382^at {odd}|long ago>": "long ago",
    "<!date^1392734382^{date}^https://example.org|x>": "<t:1392734382:D> (https://example.org)",
    "`*code* &amp; <https://a.example|b>` *c*": "`*code* & b` **c**",
    "```\n*x*\n~y~\n``` ~z~": "```\n*x*\n~y~\n``` ~~z~~",
    "&lt;b&gt; &amp;amp; a &lt; b": "<b> &amp; a < b",
    "a < b and c > d": "a < b and c > d",
    "<not a link>": "<not a link>",
}


@pytest.mark.parametrize("text", CASES)
def test_markup_becomes_markdown(text: str) -> None:
    assert translate(text) == CASES[text]


@given(st.text(alphabet="<>|@#!*_~`&;^{}/:ab1 \n\ue000\ue001", max_size=60))
def test_no_text_is_too_odd(text: str) -> None:
    translate(text)
    execute_body(SlackMessage(text=text, attachments=[{"text": text, "color": text, "ts": text, "fields": [text]}]))


@pytest.mark.parametrize(
    ("color", "expected"),
    [("good", 0x2EB886), ("danger", 0xA30200), ("#36a64f", 0x36A64F), ("abc", 0xAABBCC), ("teal", None), (7, None)],
)
def test_colors_are_named_or_hexadecimal(color: object, expected: int | None) -> None:
    assert read_color(color) == expected


def test_an_attachment_is_an_embed() -> None:
    (embed,) = as_embeds(
        {
            "fallback": "unseen",
            "color": "warning",
            "pretext": "Before",
            "author_name": "Bobby",
            "author_link": "https://example.org/bobby",
            "author_icon": "https://example.org/bobby.png",
            "title": "A &amp; B",
            "title_link": "https://example.org/title",
            "text": "*bold*",
            "fields": [{"title": "Priority", "value": "_High_", "short": True}, {"value": "alone"}, 5],
            "image_url": "https://example.org/image.png",
            "thumb_url": "not a url",
            "footer": "Foot",
            "footer_icon": "https://example.org/foot.png",
            "ts": "123456789.5",
            "mrkdwn_in": ["text"],
        }
    )
    assert embed is not None
    assert (embed.title, embed.url, embed.description) == ("A & B", "https://example.org/title", "Before\n\n**bold**")
    assert (embed.color, embed.timestamp) == (0xDAA038, 123456789500)
    assert embed.author is not None
    assert (embed.author.name, embed.author.icon_url) == ("Bobby", "https://example.org/bobby.png")
    assert embed.footer is not None
    assert embed.footer.text == "Foot"
    assert [(f.name, f.value, f.inline) for f in embed.fields or ()] == [
        ("Priority", "_High_", True),
        ("\u200b", "alone", False),
    ]
    assert embed.image is not None
    assert embed.thumbnail is None


def test_a_fallback_is_shown_where_nothing_else_is() -> None:
    (embed,) = as_embeds({"fallback": "see <https://example.org|this>", "color": "good"})
    assert embed is not None
    assert embed.description == "see [this](https://example.org)"
    assert as_embeds({"color": "good"}) == [None]


def test_blocks_are_rendered_as_far_as_text_goes() -> None:
    rendered = render(
        [
            {"type": "header", "text": {"type": "plain_text", "text": "Release *1*"}},
            {
                "type": "section",
                "text": {"type": "mrkdwn", "text": "It is *out*"},
                "accessory": {"type": "image", "image_url": "https://example.org/a.png", "alt_text": "a"},
            },
            {"type": "section", "fields": [{"type": "mrkdwn", "text": "*A*\n1"}, {"type": "mrkdwn", "text": "*B*\n2"}]},
            {"type": "divider"},
            {
                "type": "context",
                "elements": [
                    {"type": "mrkdwn", "text": "by <@U1|ann>"},
                    {"type": "image", "image_url": "https://example.org/b.png", "alt_text": "b"},
                ],
            },
            {"type": "image", "image_url": "https://example.org/c.png", "alt_text": "c"},
            {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Go"}}]},
            {"type": "invented"},
            {"type": ["odd"]},
        ]
    )
    assert rendered.text == "# Release *1*\nIt is **out**\n───\n-# by @ann"
    assert rendered.images == [f"https://example.org/{name}.png" for name in "abc"]
    assert [cell.value for cell in rendered.fields] == ["**A**\n1", "**B**\n2"]


def test_rich_text_keeps_its_styles_lists_and_quotes() -> None:
    rendered = render(
        [
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [
                            {"type": "text", "text": "Hello "},
                            {"type": "text", "text": "you ", "style": {"bold": True, "italic": True}},
                            {"type": "user", "user_id": "U1"},
                            {"type": "emoji", "name": "wave", "unicode": "1f44b"},
                            {"type": "link", "url": "https://example.org", "text": "here"},
                        ],
                    },
                    {
                        "type": "rich_text_list",
                        "style": "ordered",
                        "elements": [
                            {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]},
                            {"type": "rich_text_section", "elements": [{"type": "text", "text": "two"}]},
                        ],
                    },
                    {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said\nso"}]},
                    {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "x = 1"}]},
                ],
            }
        ]
    )
    assert rendered.text == (
        "Hello _**you**_ @U1👋[here](https://example.org)\n1. one\n2. two\n> said\n> so\n```\nx = 1\n```"
    )


def test_texts_and_lists_are_truncated_to_the_limits() -> None:
    attachment = {"text": "y" * 5000, "fields": [{"title": "t", "value": "v"}] * 40}
    message = execute_body(SlackMessage(text="x" * 3000, username="n" * 100, attachments=[attachment] * 30))
    assert len(message.content or "") == 2000
    assert len(message.username or "") == 80
    assert message.embeds is not None
    assert len(message.embeds[0].fields or ()) == 25
    total = sum(
        len(embed.description or "") + sum(len(f.name) + len(f.value) for f in embed.fields or ())
        for embed in message.embeds
    )
    assert total <= 6000
    many = execute_body(SlackMessage(attachments=[{"text": "a"}] * 30))
    assert len(many.embeds or ()) == 10


def test_a_message_whose_only_text_is_a_pretext_has_it() -> None:
    assert execute_body(SlackMessage(pretext="*Before*")).content == "**Before**"
    assert execute_body(SlackMessage(pretext="Before", text="Text")).content == "Before\nText"
    (embed,) = execute_body(SlackMessage(attachments=[{"pretext": "*Before*", "fallback": "unseen"}])).embeds or []
    assert embed.description == "**Before**"
