"""Webhook events that applications have not acknowledged yet."""

from moothall.objects.ids import ApplicationId, Snowflake
from moothall.storage.columns import id_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import index, table

webhook_events = table(
    "webhook_events",
    id_column("id", Snowflake, key=True),
    id_column("application_id", ApplicationId),
    text_column("body", nullable=False),  # of the request
    moment_column("created_at"),
    number_column("attempts"),
    moment_column("next_attempt_at"),
    id_column("claim_id", Snowflake, nullable=True),  # of the process that makes the attempt
    index("next_attempt_at"),
    index("application_id"),
    index("claim_id"),
)

webhook_event_failures = table(
    "webhook_event_failures",
    id_column("application_id", ApplicationId, key=True),
    number_column("failures"),
)
"""How many events in a row an application has not acknowledged; one that acknowledged the last has no row."""
