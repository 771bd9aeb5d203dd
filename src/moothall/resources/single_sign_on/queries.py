"""The SQL of identities, of memberships that groups have given, and of logins by a provider."""

from collections.abc import Collection

from msgspec import Struct

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.rows import MemberRow
from moothall.storage.sql import bindparam, delete, exists, func, select, update
from moothall.storage.tables import (
    auth_sessions,
    bans,
    identities,
    identity_providers,
    members,
    provider_memberships,
    scim_group_members,
    scim_groups,
    scim_users,
    tokens,
)


class IdentityRow(Struct, frozen=True):
    """A row of `identities`."""

    provider_id: Snowflake
    subject: str
    user_id: UserId
    name: str | None
    created_at: Timestamp
    last_login_at: Timestamp | None
    ended: bool


class LinkedRow(IdentityRow, frozen=True):
    """An identity with what its provider is called."""

    provider_name: str
    label: str


_i, _m, _s = identities.c, provider_memberships.c, auth_sessions.c
_select = Query(
    lambda: select(identities).where(_i.provider_id == bindparam("provider_id"), _i.subject == bindparam("subject")),
    into=IdentityRow,
)
_select_of_user = Query(
    lambda: (
        select(identities, identity_providers.c.name.label("provider_name"), identity_providers.c.label)
        .select_from(identities.join(identity_providers, identity_providers.c.id == _i.provider_id))
        .where(_i.user_id == bindparam("user_id"), ~_i.ended)
        .order_by(_i.created_at, _i.provider_id, _i.subject)
    ),
    into=LinkedRow,
)
_upsert = Query(
    lambda: upsert(
        identities, key=("provider_id", "subject"), update=("user_id", "name", "created_at", "last_login_at", "ended")
    )
)
_touch = Query(
    lambda: (
        update(identities)
        .where(_i.provider_id == bindparam("provider"), _i.subject == bindparam("sub"))
        .values(name=bindparam("new_name"), last_login_at=bindparam("now"))
    )
)
_end = Query(
    lambda: (
        update(identities)
        .where(_i.provider_id == bindparam("provider"), _i.user_id == bindparam("owner"), ~_i.ended)
        .values(ended=True)
    )
)
_end_of_user = Query(lambda: update(identities).where(_i.user_id == bindparam("owner")).values(ended=True, name=None))
_delete_of_user = Query(lambda: delete(identities).where(_i.user_id == bindparam("user_id")))
_delete = Query(
    lambda: delete(identities).where(_i.provider_id == bindparam("provider_id"), _i.subject == bindparam("subject"))
)
_is_banned_anywhere = Query(lambda: select(exists().where(bans.c.user_id == bindparam("user_id"))))
_select_memberships = Query(
    lambda: select(members).where(members.c.user_id == bindparam("user_id"), in_list(members.c.guild_id, "guild_ids")),
    into=MemberRow,
)
_insert_membership = Query(lambda: upsert(provider_memberships, key=("guild_id", "user_id"), update=("provider_id",)))
_select_group_guilds = Query(
    lambda: select(_m.guild_id).where(_m.user_id == bindparam("user_id"), _m.provider_id == bindparam("provider_id"))
)
_delete_memberships = Query(
    lambda: delete(provider_memberships).where(_m.guild_id == bindparam("guild_id"), in_list(_m.user_id, "user_ids"))
)
_by_provider = _s.provider_id == bindparam("provider_id")
_started = tokens.c.created_at <= bindparam("until")
_select_sessions_of_subject = Query(
    lambda: (
        select(_s.token_hash, _s.user_id)
        .select_from(auth_sessions.join(tokens, tokens.c.hash == _s.token_hash))
        .where(_by_provider, _s.user_id == bindparam("user_id"), _started)
    )
)
_select_sessions_of_name = Query(
    lambda: (
        select(_s.token_hash, _s.user_id)
        .select_from(auth_sessions.join(tokens, tokens.c.hash == _s.token_hash))
        .where(_by_provider, _s.provider_session == bindparam("session"), _started)
    )
)
_delete_provisioned = Query(lambda: delete(scim_users).where(scim_users.c.user_id == bindparam("user_id")))
_delete_group_members = Query(
    lambda: delete(scim_group_members).where(scim_group_members.c.user_id == bindparam("user_id"))
)
_has_groups = Query(lambda: select(exists().where(scim_groups.c.provider_id == bindparam("provider_id"))))
_select_group_names = Query(
    lambda: (
        select(scim_groups.c.display_name)
        .select_from(
            scim_group_members.join(
                scim_groups,
                (scim_groups.c.provider_id == scim_group_members.c.provider_id)
                & (scim_groups.c.id == scim_group_members.c.group_id),
            )
        )
        .where(
            scim_group_members.c.provider_id == bindparam("provider_id"),
            scim_group_members.c.user_id == bindparam("user_id"),
        )
    )
)
_is_provisioned = Query(
    lambda: select(
        exists().where(
            scim_users.c.provider_id == bindparam("provider_id"),
            scim_users.c.user_id == bindparam("user_id"),
            ~scim_users.c.removed,
        )
    )
)
_has_logged_in = Query(
    lambda: select(
        exists().where(
            _i.provider_id == bindparam("provider_id"),
            _i.user_id == bindparam("user_id"),
            _i.last_login_at.is_not(None),
        )
    )
)
_count_of_provider = Query(
    lambda: select(func.count()).select_from(identities).where(_i.provider_id == bindparam("provider_id"), ~_i.ended)
)


async def select_identity(reader: Reader, provider_id: Snowflake, subject: str) -> IdentityRow | None:
    """Read an identity; None for one that was never seen."""
    return await reader.one(_select, provider_id=provider_id, subject=subject)


async def select_identities(reader: Reader, user_id: UserId) -> list[LinkedRow]:
    """Read the identities that a user logs in with, the oldest first."""
    return await reader.all(_select_of_user, user_id=user_id)


async def upsert_identity(tx: Transaction, row: IdentityRow) -> None:
    """Store an identity, in place of one that has ended."""
    await tx.execute(_upsert, **{name: getattr(row, name) for name in row.__struct_fields__})


async def touch_identity(
    tx: Transaction, provider_id: Snowflake, subject: str, name: str | None, now: Timestamp
) -> None:
    """Note a login with an identity."""
    await tx.execute(_touch, provider=provider_id, sub=subject, new_name=name, now=now)


async def end_identities(tx: Transaction, provider_id: Snowflake, user_id: UserId) -> bool:
    """Let a user not log in with a provider any more; False if they did not. The rows stay, bound to the account."""
    return await tx.execute(_end, provider=provider_id, owner=user_id) > 0


async def end_identities_of_deleted(tx: Transaction, user_id: UserId, *, keep: bool) -> None:
    """Delete the identities of a deleted account; with `keep` only what is not needed to refuse them."""
    if keep:
        await tx.execute(_end_of_user, owner=user_id)
    else:
        await tx.execute(_delete_of_user, user_id=user_id)


async def delete_identity(tx: Transaction, provider_id: Snowflake, subject: str) -> bool:
    """Delete an identity, as if it had never been seen; False for an unknown one."""
    return await tx.execute(_delete, provider_id=provider_id, subject=subject) > 0


async def is_banned_anywhere(reader: Reader, user_id: UserId) -> bool:
    """Whether a user is banned from any guild."""
    return bool(await reader.scalar(_is_banned_anywhere, user_id=user_id))


async def select_member_rows(
    reader: Reader, user_id: UserId, guild_ids: Collection[GuildId]
) -> dict[GuildId, MemberRow]:
    """Read a user's memberships in some guilds."""
    rows = await reader.all(_select_memberships, user_id=user_id, guild_ids=list(guild_ids))
    return {row.guild_id: row for row in rows}


async def upsert_membership(tx: Transaction, guild_id: GuildId, user_id: UserId, provider_id: Snowflake) -> None:
    """Note that a group of a provider has made a user a member."""
    await tx.execute(_insert_membership, guild_id=guild_id, user_id=user_id, provider_id=provider_id)


async def select_group_guilds(reader: Reader, user_id: UserId, provider_id: Snowflake) -> set[GuildId]:
    """The guilds that a user is a member of by groups of a provider."""
    rows = await reader.all(_select_group_guilds, user_id=user_id, provider_id=provider_id)
    return {GuildId(Snowflake(row[0])) for row in rows}


async def delete_memberships(tx: Transaction, guild_id: GuildId, user_ids: Collection[UserId]) -> None:
    """Forget what has made former members of a guild that."""
    await tx.execute(_delete_memberships, guild_id=guild_id, user_ids=list(user_ids))


async def select_sessions(
    reader: Reader, provider_id: Snowflake, *, user_id: UserId | None, session: str | None, until: Timestamp
) -> list[tuple[bytes, UserId]]:
    """Read the logins by a provider that began until a moment: those of a `session` of it, else those of a user."""
    if session is not None:
        rows = await reader.all(_select_sessions_of_name, provider_id=provider_id, session=session, until=until)
    else:
        rows = await reader.all(_select_sessions_of_subject, provider_id=provider_id, user_id=user_id, until=until)
    return [(bytes(row[0]), UserId(Snowflake(row[1]))) for row in rows]


async def count_identities(reader: Reader, provider_id: Snowflake) -> int:
    """Count the identities of a provider that log in."""
    return int(await reader.scalar(_count_of_provider, provider_id=provider_id))


async def select_provisioned_groups(reader: Reader, provider_id: Snowflake, user_id: UserId) -> frozenset[str] | None:
    """The names of a user's groups as a provider has told by SCIM; None for a provider that tells of none."""
    if not await reader.scalar(_has_groups, provider_id=provider_id):
        return None
    rows = await reader.all(_select_group_names, provider_id=provider_id, user_id=user_id)
    return frozenset(row[0] for row in rows)


async def awaits_first_login(reader: Reader, provider_id: Snowflake, user_id: UserId) -> bool:
    """Whether a provider has made an account by SCIM whose user has not logged in with it yet."""
    if not await reader.scalar(_is_provisioned, provider_id=provider_id, user_id=user_id):
        return False
    return not await reader.scalar(_has_logged_in, provider_id=provider_id, user_id=user_id)


async def delete_provisioned(tx: Transaction, user_id: UserId) -> None:
    """Delete what providers say of a deleted account by SCIM, and its memberships of their groups."""
    await tx.execute(_delete_provisioned, user_id=user_id)
    await tx.execute(_delete_group_members, user_id=user_id)
