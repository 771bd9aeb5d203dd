"""Push operations: subscribing, and notifying of messages."""

from functools import partial
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import RoleId, Snowflake
from moothall.objects.message_types import MessageFlags
from moothall.objects.user import User
from moothall.objects.wire import decoder
from moothall.resources.message.stored_message import StoredMessage
from moothall.resources.push import queries
from moothall.resources.push.encryption import check_subscriber_keys
from moothall.resources.push.queries import SubscriptionRow, endpoint_hash
from moothall.resources.push.rules import Notice
from moothall.resources.push.sender import PushSender
from moothall.runtime.outgoing import OutgoingFailed, checked_url

SUBSCRIPTIONS_MAX: Final = 10
"""Subscriptions of a user; a further one replaces the oldest."""
_SILENT: Final = MessageFlags.SUPPRESS_NOTIFICATIONS | MessageFlags.EPHEMERAL
_EVERYONE: Final = "@everyone"
_users: Final = decoder(User)


class Subscriber(Struct, frozen=True):
    """Where and for whom a push service takes notifications of a browser."""

    endpoint: str
    p256dh: str
    auth: str


async def subscribe(ctx: Context, subscriber: Subscriber) -> SubscriptionRow:
    """Store the subscription of a browser for the caller; it belongs to the user who subscribed last.

    Raises Refusal: 404 where the operator has set no key, 50035 for an endpoint that is no public https URL, and for
    keys that are none.
    """
    if ctx.services.resources[PushSender].key is None:
        raise Refusal(errors.NOT_FOUND)
    form_errors = FormErrors()
    private = ctx.services.limits.allow_private_addresses
    try:
        url = checked_url(subscriber.endpoint, allow_private=private)
        fits = url.scheme == "https" or private
    except OutgoingFailed:
        fits = False
    if not fits:
        form_errors.add("endpoint", FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
    try:
        check_subscriber_keys(subscriber.p256dh, subscriber.auth)
    except ValueError:
        form_errors.add("keys", FormCode.BASE_TYPE_BAD_TYPE, "These are not the keys of a push subscription.")
    form_errors.raise_if_any()
    row = SubscriptionRow(
        endpoint_hash=endpoint_hash(subscriber.endpoint),
        id=ctx.ids.next(),
        user_id=ctx.actor.user_id,
        token_hash=ctx.actor.token_hash,
        endpoint=subscriber.endpoint,
        p256dh=subscriber.p256dh,
        auth=subscriber.auth,
        created_at=ctx.now,
    )
    await queries.delete_dead_subscriptions(ctx.tx, row.user_id)
    await queries.upsert_subscription(ctx.tx, row)
    excess = (await queries.select_own(ctx.tx, row.user_id))[SUBSCRIPTIONS_MAX:]
    if excess:
        await queries.delete_subscriptions(ctx.tx, row.user_id, [each.id for each in excess])
    return row


async def unsubscribe(ctx: Context, subscription_id: Snowflake) -> None:
    """Delete a subscription of the caller. Raises Refusal: 404 if there is none."""
    if not await queries.delete_subscription(ctx.tx, ctx.actor.user_id, subscription_id):
        raise Refusal(errors.NOT_FOUND)


def host_of(endpoint: str) -> str:
    """The host of a push service."""
    return urlsplit(endpoint).hostname or ""


async def notify_of_message(ctx: Context, stored: StoredMessage) -> None:
    """Notify the recipients of a direct message, or those whom a message mentions, after the commit."""
    sender = ctx.services.resources[PushSender]
    access, head = stored.access, stored.head
    if sender.key is None or head.flags & _SILENT or access.shown is not None:
        return
    mentioned = stored.references.mentioned
    user_ids = access.recipients if access.guild is None else mentioned.users
    everyone = access.guild is not None and mentioned.everyone and _EVERYONE in stored.text.content
    if not (user_ids or mentioned.roles or everyone):
        return
    notice = Notice(
        access=access,
        message_id=head.id,
        author_id=stored.row.author_id,
        user_ids=frozenset(user_ids),
        role_ids=frozenset(RoleId(each) for each in mentioned.roles),
        everyone=everyone,
        title=_title(stored),
        body=stored.text.content,
    )
    ctx.after_commit.append(partial(sender.put, notice))


def _title(stored: StoredMessage) -> str:
    """Who has written, and where."""
    access, person = stored.access, stored.references.people.get(stored.row.author_id)
    encoded = stored.head.author or (None if person is None else person.user)
    author = None if not encoded else _users.decode(encoded)
    name = "" if author is None else author.global_name or author.username
    if access.guild is None:
        return name
    return f"{name} (#{access.channel.name}, {access.guild.row.name})"
