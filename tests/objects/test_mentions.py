"""Mentions in texts, and which of them notify."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.errors import FormErrors
from moothall.objects.ids import ChannelId, RoleId, Snowflake, UserId
from moothall.objects.mentions import (
    Mentions,
    allow,
    check_allowed_mentions,
    parse_all_mentions,
    parse_mentions,
    pings_author,
)
from moothall.objects.message import AllowedMentions


def users(*ids: int) -> list[UserId]:
    return [UserId(Snowflake(value)) for value in ids]


def roles(*ids: int) -> list[RoleId]:
    return [RoleId(Snowflake(value)) for value in ids]


EVERYTHING = Mentions(users=users(1, 2), roles=roles(3, 4), channels=[ChannelId(Snowflake(5))], everyone=True)


def test_each_mention_is_listed_once_in_the_order_of_the_text() -> None:
    text = "<@2> <@!1> <@2> <@&4> and <@&3> in <#5>, @here"
    assert parse_mentions(text) == Mentions(
        users=users(2, 1), roles=roles(4, 3), channels=[ChannelId(Snowflake(5))], everyone=True
    )


@pytest.mark.parametrize("text", ["", "<@>", "<@a>", "<@99999999999999999999>", "@ everyone", "@Everyone", "<# 5>"])
def test_malformed_mentions_are_ignored(text: str) -> None:
    assert parse_mentions(text) == Mentions()


@pytest.mark.parametrize("text", ["`<@1>`", "```\n<@1> @everyone\n```", "``<@1> ` @here``", "a `x` `<@&1>`"])
def test_nothing_in_code_is_a_mention(text: str) -> None:
    assert parse_mentions(text) == Mentions()


@pytest.mark.parametrize("text", ["`<@1>", "\\`<@1>`", "``` <@1>", "` ` <@1> `"])
def test_unclosed_code_hides_no_mentions(text: str) -> None:
    assert parse_mentions(text).users == users(1)


@given(text=st.text("`<@&!#1>everyonehere \\", max_size=80))
def test_reading_mentions_never_fails(text: str) -> None:
    result = parse_mentions(text)
    assert len(set(result.users)) == len(result.users)
    assert not result.everyone or "@" in text


def test_four_thousand_backticks_are_parsed_quickly() -> None:
    hostile = "".join("`" * length + "x" for length in range(1, 88)) + "<@1>"
    assert parse_mentions(hostile).users == users(1)


def test_without_allowed_mentions_everything_notifies() -> None:
    assert allow(EVERYTHING, None) == EVERYTHING


def test_a_webhook_without_allowed_mentions_notifies_users_only() -> None:
    assert allow(EVERYTHING, None, default=["users"]) == Mentions(users=users(1, 2), channels=EVERYTHING.channels)


def test_empty_allowed_mentions_notify_no_user() -> None:
    for allowed in (AllowedMentions(), AllowedMentions(parse=[]), AllowedMentions(parse=None)):
        assert allow(EVERYTHING, allowed) == Mentions(channels=EVERYTHING.channels)


def test_parsed_kinds_and_listed_ids_notify() -> None:
    allowed = AllowedMentions(parse=["roles"], users=users(2, 9))
    mentions = allow(EVERYTHING, allowed)
    assert (mentions.users, mentions.roles, mentions.everyone) == (users(2), roles(3, 4), False)
    assert allow(EVERYTHING, AllowedMentions(parse=["everyone"])).everyone


def test_a_kind_is_parsed_or_listed_but_not_both() -> None:
    errors = FormErrors()
    check_allowed_mentions(AllowedMentions(parse=["users", "dogs"], users=users(1), roles=roles(*range(101))), errors)
    nested = errors.nested()["allowed_mentions"]
    assert nested["_errors"][0]["code"] == "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"
    assert nested["parse"]["1"]["_errors"][0]["code"] == "BASE_TYPE_CHOICES"
    assert nested["roles"]["_errors"][0]["code"] == "BASE_TYPE_MAX_LENGTH"


@pytest.mark.parametrize(
    "allowed",
    [
        AllowedMentions(),
        AllowedMentions(parse=["users"], users=[]),
        AllowedMentions(parse=["everyone"], users=users(1), roles=roles(*range(100))),
    ],
)
def test_consistent_allowed_mentions_are_accepted(allowed: AllowedMentions) -> None:
    errors = FormErrors()
    check_allowed_mentions(allowed, errors)
    assert not errors


def test_a_reply_notifies_the_author_unless_replied_user_is_not_set() -> None:
    assert pings_author(None)
    assert pings_author(AllowedMentions(replied_user=True))
    assert not pings_author(AllowedMentions())
    assert not pings_author(AllowedMentions(parse=["users"], replied_user=False))


def test_a_code_block_does_not_extend_into_the_next_text() -> None:
    result = parse_all_mentions(["``` <@1>", "<@2> <@&3> `", "` <@2> <@4> @here"])
    assert (result.users, result.roles, result.everyone) == ([1, 2, 4], [3], True)
    assert parse_all_mentions([]) == parse_mentions("")
