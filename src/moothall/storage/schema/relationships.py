"""Relationships between users, and their notes about each other."""

from moothall.objects.ids import UserId
from moothall.storage.columns import flag_column, id_column, key_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import clustered, index

relationships = clustered(
    "relationships",
    id_column("user_id", UserId, key=True),
    id_column("other_id", UserId, key=True),
    number_column("type"),
    text_column("nickname"),
    flag_column("ignored"),
    flag_column("stranger"),
    text_column("note"),
    moment_column("since"),
)
"""Friends and requests have a row for either user, blocked and ignored users one."""

friend_invites = clustered(
    "friend_invites",
    id_column("user_id", UserId, key=True),
    key_column("code", key=True),
    number_column("max_age"),  # seconds
    number_column("max_uses"),
    number_column("uses"),
    moment_column("created_at"),
    moment_column("expires_at"),
    index("code", unique=True),
)
"""Invites that make those who accept them friends of the user."""

user_notes = clustered(
    "user_notes",
    id_column("user_id", UserId, key=True),
    id_column("about_id", UserId, key=True),
    text_column("note", nullable=False),
)
