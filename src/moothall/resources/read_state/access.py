"""Access to the endpoints of read states in a guild or channel."""

from moothall.api.access import PERSON, Member, PathValues
from moothall.api.context import Context


class PersonInside(Member):
    """Users, no bots, who are members of the guild or may view the channel in the path."""

    label = "person, member"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raises Refusal: 403/20001 for bots and access tokens; else as `enter`."""
        await PERSON.check(ctx, path)
        await super().check(ctx, path)


PERSON_INSIDE = PersonInside()
