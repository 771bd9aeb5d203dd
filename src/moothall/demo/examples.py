"""Examples of path parameters, from the demo community. Ids only: the document is public, tokens are not."""

from moothall.demo.plan import GENERAL, OWNER
from moothall.demo.record import DemoRecord
from moothall.objects.ids import Snowflake


def example_ids(demo: DemoRecord) -> dict[str, str]:
    """The values of path parameters that name what the demo has, by the name of the parameter."""
    members = [user for user in demo.people if user.username != OWNER]
    roles = [role_id for role_id in demo.guild.roles.values() if role_id != Snowflake(demo.guild.id)]
    ids: dict[str, Snowflake] = {
        "guild_id": demo.guild.id,
        "channel_id": demo.guild.channels[GENERAL],
        "user_id": members[0].id,
        "role_id": roles[0],
        "overwrite_id": roles[0],
        "application_id": demo.bot.application_id,
        "webhook_id": demo.webhook.id,
    }
    return {name: value.wire() for name, value in ids.items()} | {"emoji_name": "\N{THUMBS UP SIGN}"}
