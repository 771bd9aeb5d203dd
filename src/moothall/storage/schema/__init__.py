"""Every table. Keys of those that grow lead with the owning id (design.md, section 4)."""

from moothall.storage.schema.channels import (
    channel_activity,
    channel_recipients,
    channels,
    dm_pairs,
    invites,
    thread_members,
    thread_tags,
    webhooks,
)
from moothall.storage.schema.commands import (
    command_creations,
    command_permissions,
    commands,
    ephemeral_messages,
    interactions,
)
from moothall.storage.schema.crossposts import crossposts, publications
from moothall.storage.schema.expressions import application_emojis, sounds
from moothall.storage.schema.guilds import (
    audit_entries,
    emojis,
    guild_counters,
    guilds,
    integrations,
    onboardings,
    roles,
    screening_forms,
    stickers,
)
from moothall.storage.schema.jobs import jobs
from moothall.storage.schema.members import bans, former_members, member_activity, members, voice_states
from moothall.storage.schema.messages import (
    attachments,
    dropped_files,
    message_nonces,
    messages,
    pins,
    reaction_counts,
    reactions,
)
from moothall.storage.schema.metadata import meta, metadata
from moothall.storage.schema.newcomers import guild_homes, onboarding_answers
from moothall.storage.schema.nodes import nodes
from moothall.storage.schema.outbox import outbox
from moothall.storage.schema.polls import poll_counts, poll_votes, polls
from moothall.storage.schema.search import message_changes
from moothall.storage.schema.stages_and_events import scheduled_event_users, scheduled_events, stage_instances
from moothall.storage.schema.users import (
    applications,
    auth_sessions,
    authorization_codes,
    authorizations,
    connections,
    known_networks,
    team_members,
    teams,
    tokens,
    users,
)

__all__ = [
    "application_emojis",
    "applications",
    "attachments",
    "audit_entries",
    "auth_sessions",
    "authorization_codes",
    "authorizations",
    "bans",
    "channel_activity",
    "channel_recipients",
    "channels",
    "command_creations",
    "command_permissions",
    "commands",
    "connections",
    "crossposts",
    "dm_pairs",
    "dropped_files",
    "emojis",
    "ephemeral_messages",
    "former_members",
    "guild_counters",
    "guild_homes",
    "guilds",
    "integrations",
    "interactions",
    "invites",
    "jobs",
    "known_networks",
    "member_activity",
    "members",
    "message_changes",
    "message_nonces",
    "messages",
    "meta",
    "metadata",
    "nodes",
    "onboarding_answers",
    "onboardings",
    "outbox",
    "pins",
    "poll_counts",
    "poll_votes",
    "polls",
    "publications",
    "reaction_counts",
    "reactions",
    "roles",
    "scheduled_event_users",
    "scheduled_events",
    "screening_forms",
    "sounds",
    "stage_instances",
    "stickers",
    "team_members",
    "teams",
    "thread_members",
    "thread_tags",
    "tokens",
    "users",
    "voice_states",
    "webhooks",
]
