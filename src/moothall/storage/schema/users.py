"""Users, tokens, applications, authorizations and teams."""

from sqlalchemy import Index

from moothall.objects.ids import ApplicationId, AuthorizationId, GuildId, Snowflake, TeamId, UserId, WebhookId
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import (
    bytes_column,
    flag_column,
    id_column,
    json_column,
    key_column,
    media_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, partial_index, table

users = table(
    "users",
    id_column("id", UserId, key=True),
    text_column("username", nullable=False),
    key_column("username_key"),  # casefolded, accents stripped
    text_column("discriminator", "0", nullable=False),
    text_column("global_name"),
    media_column("avatar"),
    media_column("banner"),
    number_column("accent_color", None),
    text_column("bio", "", nullable=False),
    text_column("email"),
    key_column("email_key", nullable=True),  # casefolded
    text_column("password_hash"),  # argon2id; bots and deleted users have none
    flag_column("verified"),
    flag_column("mfa_enabled"),
    flag_column("bot"),
    flag_column("system"),
    number_column("flags"),
    number_column("public_flags"),
    text_column("locale", "en-US", nullable=False),
    number_column("premium_type"),
    id_column("application_id", ApplicationId, nullable=True),
    flag_column("deleted"),
    flag_column("disabled", added=True),  # by its user; logging in can restore it
    moment_column("deletes_at", nullable=True),  # when a disabled account is deleted
    flag_column("suspended", added=True),  # by the operator, who alone can end it
    number_column("pending", added=True),  # 1 until its address is verified, 2 until the operator approves it
    text_column("pronouns"),
    id_column("primary_guild_id", GuildId, nullable=True),  # whose tag the user wears
    text_column("primary_guild_tag"),  # NULL until the user says again that they wear it, after it has changed
    text_column("primary_guild_badge"),
    index("email_key", unique=True),
)
partial_index("uq_users_username_key", users.c.username_key, where=~users.c.bot, unique=True)
Index("ix_users_application_id", users.c.application_id)
Index("ix_users_primary_guild_id", users.c.primary_guild_id)

tokens = clustered(
    "tokens",
    bytes_column("hash", key=True),  # SHA-256
    number_column("kind"),
    id_column("user_id", UserId),
    id_column("application_id", ApplicationId, nullable=True),
    text_column("scopes", "", nullable=False),  # separated by spaces
    moment_column("created_at"),
    moment_column("expires_at", nullable=True),
    id_column("grant_id", AuthorizationId, nullable=True),  # of the access tokens and refresh tokens of one code
    # Of a refresh token: `hash` is of the part that it shares with those that it replaced, this of the one that is
    # good now. NULL where that is the shared part itself.
    bytes_column("current_hash", nullable=True),
    index("user_id"),
    index("application_id"),
    index("expires_at"),
)

auth_sessions = clustered(
    "auth_sessions",
    bytes_column("token_hash", key=True),  # of `tokens`
    id_column("user_id", UserId),
    moment_column("last_used_at"),  # exact to an hour
    text_column("network"),  # where the login came from; NULL for a login by the operator
    text_column("os"),
    text_column("platform"),
    id_column("provider_id", Snowflake, nullable=True),  # the identity provider that it came by
    text_column("provider_session"),  # what the provider calls it
    index("user_id"),
    index("last_used_at"),
    index("provider_id", "provider_session"),
)
"""Client and last use of users' logins. A table beside `tokens`, so that recording a use does not invalidate cached
tokens."""

known_networks = clustered(
    "known_networks",
    id_column("user_id", UserId, key=True),
    key_column("network", key=True),
    moment_column("last_login_at"),
    index("last_login_at"),
)
"""Networks from which users have logged in; wrong passwords of other networks do not lock these out."""

registration_tokens = clustered(
    "registration_tokens",
    bytes_column("hash", key=True),  # SHA-256
    id_column("id", Snowflake),
    text_column("note"),
    text_column("address"),  # that it was mailed to
    number_column("uses_left"),
    moment_column("created_at"),
    moment_column("expires_at"),
    index("id"),
)
"""Invitations to register an account, made by the operator. A used up one is deleted."""

registration_consents = clustered(
    "registration_consents",
    id_column("user_id", UserId, key=True),
    text_column("terms_version"),  # that were accepted; NULL where there were none
    number_column("min_age", None),  # that was confirmed by a date of birth, which is not stored
    moment_column("created_at"),
)
"""What people have confirmed when they registered: terms and a least age."""

account_links = clustered(
    "account_links",
    bytes_column("hash", key=True),  # SHA-256 of the token in the link
    id_column("user_id", UserId),
    text_column("purpose", nullable=False),  # verify, reset, or recovery to call one off
    text_column("address"),  # that the link was sent to; NULL for one that the operator passes on
    moment_column("created_at"),
    moment_column("expires_at"),
    index("user_id"),
    index("expires_at"),
)
"""Links that are used once: to verify an email address, and to choose a new password."""

factors = clustered(
    "factors",
    id_column("user_id", UserId, key=True),
    bytes_column("totp_secret", nullable=True),  # encrypted with the server's key
    number_column("totp_step"),  # the time step of the last code that was accepted
    number_column("failures"),  # wrong codes since the last right one, or in the last quarter of an hour
    moment_column("failures_end_at"),  # when they are forgotten
)
"""Second factors of users, and wrong codes."""

backup_codes = clustered(
    "backup_codes",
    id_column("user_id", UserId, key=True),
    key_column("hash", key=True),  # in hexadecimal, keyed with the server's key, after the id of that
    flag_column("consumed"),
)
"""Codes of users that replace a second factor, once each."""

authenticators = table(
    "authenticators",
    id_column("id", Snowflake, key=True),
    id_column("user_id", UserId),
    bytes_column("credential_id"),
    bytes_column("public_key"),  # in COSE
    number_column("sign_count"),  # of the last use; 0 for those that do not count
    text_column("name", nullable=False),
    moment_column("created_at"),
    index("user_id"),
    index("credential_id", unique=True),
)
"""Passkeys and security keys (WebAuthn)."""

factor_recoveries = clustered(
    "factor_recoveries",
    id_column("user_id", UserId, key=True),
    moment_column("requested_at"),
    moment_column("due_at"),
)
"""Users whose second factors are removed at a time, as they have lost them, unless it is called off."""

factor_tickets = clustered(
    "factor_tickets",
    bytes_column("hash", key=True),  # SHA-256
    id_column("user_id", UserId),
    text_column("purpose", nullable=False),
    flag_column("undelete"),  # of a login: whether it restores a closed account
    bytes_column("key_hash", nullable=True),  # of the key in a mail, keyed with the server's key
    number_column("failures"),  # wrong keys
    moment_column("expires_at"),
    id_column("provider_id", Snowflake, nullable=True),  # of a login, as in `auth_sessions`
    text_column("provider_session"),
    json_column("provider_groups", list[str]),  # the person's groups there, which are applied with the login
    index("user_id"),
    index("expires_at"),
)
"""Requests that wait for a second factor."""

connections = clustered(
    "connections",
    id_column("user_id", UserId, key=True),
    key_column("type", key=True),
    key_column("id", key=True),
    text_column("name", nullable=False),
    flag_column("verified"),
    flag_column("show_activity"),
    number_column("visibility"),
    moment_column("created_at"),
)
"""Connections: accounts on other services."""

authorizations = clustered(
    "authorizations",
    id_column("user_id", UserId, key=True),
    id_column("application_id", ApplicationId, key=True),
    id_column("id", AuthorizationId),
    text_column("scopes", "", nullable=False),  # all that were ever consented to, separated by spaces
    flag_column("user_install"),
    moment_column("created_at"),
    index("application_id"),
)
"""Scopes that users have granted to applications."""

authorization_codes = clustered(
    "authorization_codes",
    bytes_column("hash", key=True),  # SHA-256
    id_column("application_id", ApplicationId),
    id_column("user_id", UserId),
    id_column("grant_id", AuthorizationId),  # what is given for the code goes by it
    text_column("scopes", nullable=False),
    text_column("redirect_uri"),  # as the request named it; NULL where it left the choice to us
    text_column("challenge"),  # PKCE, S256
    text_column("nonce"),  # OpenID Connect
    id_column("guild_id", GuildId, nullable=True),
    id_column("webhook_id", WebhookId, nullable=True),
    moment_column("created_at"),
    moment_column("expires_at"),
    flag_column("used"),
    index("expires_at"),
    index("application_id"),
    index("user_id"),
)
"""A used code stays until it expires, so that its second use is detected."""

device_codes = clustered(
    "device_codes",
    bytes_column("hash", key=True),  # SHA-256 of the code that the device has
    bytes_column("user_code_hash"),  # SHA-256 of the code that its user enters
    id_column("application_id", ApplicationId),
    text_column("scopes", nullable=False),
    number_column("status"),  # 0 pending, 1 granted, 2 denied
    id_column("user_id", UserId, nullable=True),  # who has answered
    number_column("interval"),  # seconds between two polls
    moment_column("polled_at", nullable=True),
    moment_column("created_at"),
    moment_column("expires_at"),
    index("user_code_hash", unique=True),
    index("expires_at"),
    index("application_id"),
    index("user_id"),
)
"""Authorization requests of devices without a browser, until their code is exchanged or expires."""

applications = table(
    "applications",
    id_column("id", ApplicationId, key=True),
    id_column("owner_id", UserId),
    id_column("bot_user_id", UserId, nullable=True),
    text_column("name", nullable=False),
    text_column("description", "", nullable=False),
    media_column("icon"),
    media_column("cover_image"),
    flag_column("bot_public", default=True),
    flag_column("bot_require_code_grant"),
    number_column("flags"),
    text_column("verify_key", nullable=False),  # Ed25519, in hexadecimal
    bytes_column("private_key"),  # encrypted with the server's key
    bytes_column("secret_hash", nullable=True),
    json_column("redirect_uris", list[str], default=[]),
    text_column("interactions_endpoint_url"),
    text_column("role_connections_verification_url"),
    json_column("tags", list[str], default=[]),
    json_column("install_params", JsonObject),
    json_column("integration_types_config", JsonObject),
    text_column("custom_install_url"),
    text_column("terms_of_service_url"),
    text_column("privacy_policy_url"),
    text_column("event_webhooks_url"),
    number_column("event_webhooks_status", 1),
    json_column("event_webhooks_types", list[str], default=[]),
    moment_column("created_at"),
    flag_column("public_client", added=True),  # whether it may do without its secret, with PKCE
    id_column("team_id", TeamId, nullable=True),
    json_column("embedded_activity_config", JsonObject),  # what of it differs from the defaults
    json_column("proxy_url_map", list[dict[str, str]], default=[], added=True),  # of {prefix, target}
    number_column("max_participants", -1, added=True),  # of an Activity instance; -1 for no limit
    flag_column("disabled", added=True),  # by an operator
    index("owner_id"),
    index("team_id"),
)

teams = table(
    "teams",
    id_column("id", TeamId, key=True),
    text_column("name", nullable=False),
    media_column("icon"),
    id_column("owner_user_id", UserId),
    moment_column("created_at"),
)
"""Teams of users who own applications."""

team_members = clustered(
    "team_members",
    id_column("team_id", TeamId, key=True),
    id_column("user_id", UserId, key=True),
    number_column("membership_state", 1),  # 1 is invited, 2 accepted
    text_column("role", nullable=False),
    moment_column("created_at"),
    index("user_id"),
)
"""The owner included."""
