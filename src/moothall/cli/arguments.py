"""Arguments that several commands take."""

from typing import Any

import click

from moothall.objects.ids import Snowflake


class SnowflakeArgument(click.ParamType[Snowflake]):
    """An id, as clients show it."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Snowflake:
        """The id of a text; anything but a whole number is wrongly asked."""
        try:
            return Snowflake.from_wire(value)
        except ValueError:
            self.fail(f"{value!r} is not an id", param, ctx)


SNOWFLAKE = SnowflakeArgument()
