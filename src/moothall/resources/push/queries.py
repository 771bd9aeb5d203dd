"""The SQL of Web Push."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from moothall.objects.channel import ConsentStatus
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.relationship import RelationshipType
from moothall.objects.user_settings import MuteConfig
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, or_, select
from moothall.storage.tables import (
    channel_recipients,
    members,
    push_subscriptions,
    relationships,
    thread_members,
    tokens,
    user_guild_settings,
    user_settings,
)

SUBSCRIBERS_MAX: Final = 5_000
"""Subscriptions that one message notifies at most."""


class SubscriptionRow(Struct):
    """A row of `push_subscriptions`."""

    endpoint_hash: str
    id: Snowflake
    user_id: UserId
    token_hash: bytes
    endpoint: str
    p256dh: str
    auth: str
    created_at: Timestamp


class SubscribedMember(Struct):
    """A member who has subscribed, with what their permissions depend on."""

    user_id: UserId
    roles: list[RoleId]
    pending: bool
    communication_disabled_until: Timestamp | None
    flags: int
    guest_channel_id: ChannelId | None


class ThreadSettings(Struct):
    """What a member has set for a thread."""

    user_id: UserId
    flags: int
    muted: bool
    mute_config: MuteConfig | None


class SettingsRow(Struct):
    """The settings that a user has changed."""

    user_id: UserId
    settings: JsonObject


_s = push_subscriptions.c
_of_user = _s.user_id == bindparam("user_id")
_live = push_subscriptions.join(tokens, tokens.c.hash == _s.token_hash)
_of_users = in_list(_s.user_id, "user_ids")
_upsert = Query(
    lambda: upsert(
        push_subscriptions,
        key=("endpoint_hash",),
        update=tuple(name for name in SubscriptionRow.__struct_fields__ if name != "endpoint_hash"),
    )
)
_select_own = Query(lambda: select(push_subscriptions).where(_of_user).order_by(_s.id.desc()), into=SubscriptionRow)
_delete_one = Query(lambda: delete(push_subscriptions).where(_of_user, _s.id == bindparam("subscription_id")))
_delete_several = Query(lambda: delete(push_subscriptions).where(_of_user, in_list(_s.id, "subscription_ids")))
_own_tokens = select(tokens.c.hash).where(tokens.c.user_id == bindparam("user_id"))
_delete_dead = Query(lambda: delete(push_subscriptions).where(_of_user, _s.token_hash.not_in(_own_tokens)))
_delete_endpoint = Query(lambda: delete(push_subscriptions).where(_s.endpoint_hash == bindparam("endpoint_hash")))
_select_live = Query(
    lambda: select(push_subscriptions).select_from(_live).where(_of_users).order_by(_s.id).limit(SUBSCRIBERS_MAX),
    into=SubscriptionRow,
)
_member_columns = tuple(members.c[name] for name in SubscribedMember.__struct_fields__)
_in_guild = members.c.guild_id == bindparam("guild_id")
_subscribed_ids = select(_s.user_id).select_from(_live)
_select_named_members = Query(
    lambda: select(*_member_columns).where(
        _in_guild, in_list(members.c.user_id, "user_ids"), members.c.user_id.in_(_subscribed_ids)
    ),
    into=SubscribedMember,
)
_select_members = Query(
    lambda: select(*_member_columns).where(_in_guild, members.c.user_id.in_(_subscribed_ids)).limit(SUBSCRIBERS_MAX),
    into=SubscribedMember,
)
_select_guild_settings = Query(
    lambda: select(user_guild_settings.c.user_id, user_guild_settings.c.settings).where(
        in_list(user_guild_settings.c.user_id, "user_ids"), user_guild_settings.c.guild_id == bindparam("guild_id")
    ),
    into=SettingsRow,
)
_select_settings = Query(
    lambda: select(user_settings.c.user_id, user_settings.c.settings).where(
        in_list(user_settings.c.user_id, "user_ids")
    ),
    into=SettingsRow,
)
_t = thread_members.c
_select_thread_settings = Query(
    lambda: select(_t.user_id, _t.flags, _t.muted, _t.mute_config).where(
        _t.thread_id == bindparam("thread_id"), in_list(_t.user_id, "user_ids")
    ),
    into=ThreadSettings,
)
_select_unheard_by = Query(
    lambda: select(relationships.c.user_id).where(
        in_list(relationships.c.user_id, "user_ids"),
        relationships.c.other_id == bindparam("author_id"),
        or_(relationships.c.type == int(RelationshipType.BLOCKED), relationships.c.ignored),
    )
)


_select_not_accepted_by = Query(
    lambda: select(channel_recipients.c.user_id).where(
        channel_recipients.c.channel_id == bindparam("channel_id"),
        channel_recipients.c.consent != int(ConsentStatus.ACCEPTED),
    )
)


def endpoint_hash(endpoint: str) -> str:
    """The key of an endpoint."""
    return hashlib.sha256(endpoint.encode()).hexdigest()


async def upsert_subscription(tx: Transaction, row: SubscriptionRow) -> None:
    """Store a subscription, in place of an earlier one of the same browser."""
    await tx.execute(_upsert, **structs.asdict(row))


async def select_own(reader: Reader, user_id: UserId) -> list[SubscriptionRow]:
    """The subscriptions of a user, newest first."""
    return await reader.all(_select_own, user_id=user_id)


async def delete_subscription(tx: Transaction, user_id: UserId, subscription_id: Snowflake) -> bool:
    """Delete a subscription of a user; False if there is none."""
    return await tx.execute(_delete_one, user_id=user_id, subscription_id=subscription_id) > 0


async def delete_subscriptions(tx: Transaction, user_id: UserId, subscription_ids: Sequence[Snowflake]) -> None:
    """Delete some subscriptions of a user."""
    await tx.execute(_delete_several, user_id=user_id, subscription_ids=list(subscription_ids))


async def delete_dead_subscriptions(tx: Transaction, user_id: UserId) -> None:
    """Delete the subscriptions of a user whose logins have ended."""
    await tx.execute(_delete_dead, user_id=user_id)


async def delete_endpoint(tx: Transaction, hashed: str) -> None:
    """Delete the subscription of an endpoint that its push service has ended."""
    await tx.execute(_delete_endpoint, endpoint_hash=hashed)


async def select_live(reader: Reader, user_ids: Collection[UserId]) -> list[SubscriptionRow]:
    """The subscriptions of users whose logins have not ended."""
    return await reader.all(_select_live, user_ids=list(user_ids))


async def select_members(
    reader: Reader, guild_id: GuildId, user_ids: Collection[UserId] | None
) -> list[SubscribedMember]:
    """The members of a guild who have subscribed: of some users, or with None of all."""
    if user_ids is None:
        return await reader.all(_select_members, guild_id=guild_id)
    return await reader.all(_select_named_members, guild_id=guild_id, user_ids=list(user_ids))


async def select_guild_settings(reader: Reader, guild_id: GuildId, user_ids: Iterable[UserId]) -> dict[int, JsonObject]:
    """The notification settings that users have changed for a guild, by user."""
    rows = await reader.all(_select_guild_settings, guild_id=guild_id, user_ids=list(user_ids))
    return {row.user_id: row.settings for row in rows}


async def select_settings(reader: Reader, user_ids: Iterable[UserId]) -> dict[int, JsonObject]:
    """The settings that users have changed, by user."""
    return {row.user_id: row.settings for row in await reader.all(_select_settings, user_ids=list(user_ids))}


async def select_thread_settings(
    reader: Reader, thread_id: ChannelId, user_ids: Iterable[UserId]
) -> list[ThreadSettings]:
    """What those of some users who are in a thread have set for it."""
    return await reader.all(_select_thread_settings, thread_id=thread_id, user_ids=list(user_ids))


async def select_unheard_by(reader: Reader, author_id: UserId, user_ids: Iterable[UserId]) -> set[int]:
    """Those of some users who have blocked an author, or ignore them."""
    rows = await reader.all(_select_unheard_by, author_id=author_id, user_ids=list(user_ids))
    return {row[0] for row in rows}


async def select_not_accepted_by(reader: Reader, channel_id: ChannelId) -> set[int]:
    """Those recipients of a direct message to whom it is a message request, or was one that they rejected."""
    return {row[0] for row in await reader.all(_select_not_accepted_by, channel_id=channel_id)}
