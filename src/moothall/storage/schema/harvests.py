"""Archives of users' data."""

from moothall.objects.ids import Snowflake, UserId
from moothall.storage.columns import id_column, json_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import clustered

harvests = clustered(
    "harvests",
    id_column("user_id", UserId, key=True),
    id_column("id"),
    number_column("status"),  # 0 queued, 1 running, 2 failed, 3 completed, 4 cancelled
    json_column("backends", dict[str, str], default={}),
    moment_column("created_at"),
    moment_column("updated_at"),
    moment_column("completed_at", nullable=True),
    moment_column("polled_at", nullable=True),
    number_column("size"),  # bytes of the archive; 0 while there is none
)
"""The newest archive that each user has requested."""

harvest_files = clustered(
    "harvest_files",
    id_column("harvest_id", Snowflake, key=True),
    id_column("number", key=True),  # in the order of the archive; the last one is its directory, without a name
    text_column("name", nullable=False),
    number_column("checksum"),  # CRC-32
    number_column("size"),
    number_column("compressed_size"),
    number_column("length"),  # bytes of the blob, which is the file with its header
)
"""The files in an archive. Each is a blob, and the archive is all of them one after another."""
