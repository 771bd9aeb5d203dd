"""Deleted guilds that an operator can restore: the rows by which a guild is reached, out of reach.

A row that is moved here cannot be found by any request about guilds, so that no query needs a condition for them.
"""

from typing import Any

from sqlalchemy import Column, Table

from moothall.objects.ids import UserId
from moothall.storage.columns import flag_column, id_column, moment_column
from moothall.storage.schema.channels import invites, webhooks
from moothall.storage.schema.commands import command_creations, commands
from moothall.storage.schema.guilds import guild_counters, guilds, tag_columns
from moothall.storage.schema.members import members
from moothall.storage.schema.metadata import index, metadata, with_media_indexes
from moothall.storage.schema.role_connections import linked_role_applications
from moothall.storage.schema.templates import guild_templates


def _deleted(source: Table, *added: Column[Any], later: tuple[Column[Any], ...] = (), indexed: bool = True) -> Table:
    """The table that has the rows of deleted guilds, with the columns and the primary key of their table.

    `later` are new columns of `source` that it got after this table was made: they are the last ones here.
    """
    copy = source.to_metadata(metadata, name=f"deleted_{source.name}")
    copy.indexes.clear()
    copy.primary_key.name = f"pk_{copy.name}"
    for column in copy.columns:
        column.server_default = None  # no row is older than these tables
    for column in later:
        copy._columns.remove(copy.columns[column.name])  # noqa: SLF001 nothing public takes a column away
    for column in (*added, *later):
        copy.append_column(column)
    if indexed:
        copy.append_constraint(index("guild_id"))
    return with_media_indexes(copy)


deleted_guilds = _deleted(
    guilds,
    moment_column("deleted_at"),
    moment_column("deletes_at"),  # for good
    id_column("deleted_by", UserId, nullable=True),  # NULL for a command
    flag_column("restoring"),  # whether its members are on their way back
    later=tag_columns(),
    indexed=False,
)
deleted_guild_counters = _deleted(guild_counters, indexed=False)
deleted_guild_templates = _deleted(guild_templates, indexed=False)
deleted_invites = _deleted(invites)
deleted_linked_role_applications = _deleted(linked_role_applications)
deleted_webhooks = _deleted(webhooks)
deleted_commands = _deleted(commands)
deleted_command_creations = _deleted(command_creations)
deleted_members = _deleted(members, indexed=False)
