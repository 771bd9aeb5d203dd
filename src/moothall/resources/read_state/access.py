"""Access to the endpoints of read states in a guild or channel."""

from collections.abc import Mapping

from moothall.api.access import PERSON, Member
from moothall.api.context import Context


class PersonInside(Member):
    """Users, no bots, who are members of the guild or may view the channel in the path."""

    label = "person, member"

    async def check(self, ctx: Context, path: Mapping[str, object]) -> None:
        """Raises Refusal: 403/20001 for bots and access tokens; else as `enter`."""
        await PERSON.check(ctx, path)
        await super().check(ctx, path)


PERSON_INSIDE = PersonInside()
