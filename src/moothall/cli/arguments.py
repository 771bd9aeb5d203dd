"""Arguments that several commands take."""

import click

from moothall.objects.ids import Snowflake


class SnowflakeArgument(click.ParamType[Snowflake]):
    """A snowflake id."""

    name = "id"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Snowflake:
        """Parse an id; anything but a whole number is a usage error."""
        try:
            return Snowflake.from_wire(value)
        except ValueError:
            self.fail(f"{value!r} is not an id", param, ctx)


SNOWFLAKE = SnowflakeArgument()
