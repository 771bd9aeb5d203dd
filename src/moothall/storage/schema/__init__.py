"""Every table. Keys of those that grow lead with the owning id (design.md, section 4)."""

from moothall.storage.schema.activities import activity_instances, activity_participants, quick_links
from moothall.storage.schema.auto_moderation import auto_moderation_rules
from moothall.storage.schema.channels import (
    channel_activity,
    channel_recipients,
    channels,
    dm_pairs,
    invite_target_jobs,
    invite_targets,
    invites,
    thread_members,
    thread_tags,
    webhook_avatars,
    webhooks,
)
from moothall.storage.schema.commands import (
    command_creations,
    command_permissions,
    commands,
    ephemeral_messages,
    interactions,
)
from moothall.storage.schema.commit_marks import commit_marks
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
from moothall.storage.schema.harvests import harvest_files, harvests
from moothall.storage.schema.identities import identities, identity_providers, provider_groups, provider_memberships
from moothall.storage.schema.jobs import jobs
from moothall.storage.schema.link_previews import link_previews, preview_requests
from moothall.storage.schema.mails import mails
from moothall.storage.schema.members import bans, former_members, member_activity, members, voice_states, voice_statuses
from moothall.storage.schema.messages import (
    attachments,
    dropped_files,
    message_avatars,
    message_nonces,
    messages,
    pending_uploads,
    pins,
    reaction_counts,
    reactions,
    storage_usage,
    unnamed_media,
)
from moothall.storage.schema.metadata import meta, metadata
from moothall.storage.schema.monetization import entitlements, skus
from moothall.storage.schema.newcomers import guild_homes, home_progress, join_requests, onboarding_answers
from moothall.storage.schema.nodes import nodes
from moothall.storage.schema.operators import operator_log, operator_tokens, operators, server_settings
from moothall.storage.schema.outbox import outbox, outbox_batches
from moothall.storage.schema.polls import poll_counts, poll_votes, polls
from moothall.storage.schema.push import push_subscriptions
from moothall.storage.schema.read_states import dismissed_mentions, message_mentions, read_states, saved_messages
from moothall.storage.schema.relationships import friend_invites, relationships, user_notes
from moothall.storage.schema.reports import reports
from moothall.storage.schema.role_connections import (
    linked_role_applications,
    linked_role_members,
    linked_roles,
    role_connection_metadata,
    role_connections,
)
from moothall.storage.schema.search import message_changes
from moothall.storage.schema.stages_and_events import scheduled_event_users, scheduled_events, stage_instances
from moothall.storage.schema.templates import guild_templates
from moothall.storage.schema.user_settings import user_guild_settings, user_settings, user_settings_protos
from moothall.storage.schema.users import (
    account_links,
    applications,
    auth_sessions,
    authenticators,
    authorization_codes,
    authorizations,
    backup_codes,
    connections,
    factor_tickets,
    factors,
    known_networks,
    registration_tokens,
    team_members,
    teams,
    tokens,
    users,
)
from moothall.storage.schema.webhook_events import webhook_event_failures, webhook_events

__all__ = [
    "account_links",
    "activity_instances",
    "activity_participants",
    "application_emojis",
    "applications",
    "attachments",
    "audit_entries",
    "auth_sessions",
    "authenticators",
    "authorization_codes",
    "authorizations",
    "auto_moderation_rules",
    "backup_codes",
    "bans",
    "channel_activity",
    "channel_recipients",
    "channels",
    "command_creations",
    "command_permissions",
    "commands",
    "commit_marks",
    "connections",
    "crossposts",
    "dismissed_mentions",
    "dm_pairs",
    "dropped_files",
    "emojis",
    "entitlements",
    "ephemeral_messages",
    "factor_tickets",
    "factors",
    "former_members",
    "friend_invites",
    "guild_counters",
    "guild_homes",
    "guild_templates",
    "guilds",
    "harvest_files",
    "harvests",
    "home_progress",
    "identities",
    "identity_providers",
    "integrations",
    "interactions",
    "invite_target_jobs",
    "invite_targets",
    "invites",
    "jobs",
    "join_requests",
    "known_networks",
    "link_previews",
    "linked_role_applications",
    "linked_role_members",
    "linked_roles",
    "mails",
    "member_activity",
    "members",
    "message_avatars",
    "message_changes",
    "message_mentions",
    "message_nonces",
    "messages",
    "meta",
    "metadata",
    "nodes",
    "onboarding_answers",
    "onboardings",
    "operator_log",
    "operator_tokens",
    "operators",
    "outbox",
    "outbox_batches",
    "pending_uploads",
    "pins",
    "poll_counts",
    "poll_votes",
    "polls",
    "preview_requests",
    "provider_groups",
    "provider_memberships",
    "publications",
    "push_subscriptions",
    "quick_links",
    "reaction_counts",
    "reactions",
    "read_states",
    "registration_tokens",
    "relationships",
    "reports",
    "role_connection_metadata",
    "role_connections",
    "roles",
    "saved_messages",
    "scheduled_event_users",
    "scheduled_events",
    "screening_forms",
    "server_settings",
    "skus",
    "sounds",
    "stage_instances",
    "stickers",
    "storage_usage",
    "team_members",
    "teams",
    "thread_members",
    "thread_tags",
    "tokens",
    "unnamed_media",
    "user_guild_settings",
    "user_notes",
    "user_settings",
    "user_settings_protos",
    "users",
    "voice_states",
    "voice_statuses",
    "webhook_avatars",
    "webhook_event_failures",
    "webhook_events",
    "webhooks",
]
