"""Starting and ending the pauses of a guild."""

from msgspec import UnsetType, structs

from moothall.api.context import Context
from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.guild import IncidentsData
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.resources.guild.operations import change_guild


async def modify_incident_actions(ctx: Context, **requested: Timestamp | UnsetType | None) -> IncidentsData:
    """Set the end of pauses of the guild entered, by field name; returns the changed incidents data.

    A time in the past ends a pause. A request that changes nothing is neither recorded nor announced. Raises Refusal:
    400/50035 for a time more than a day ahead.
    """
    stored = ctx.guild.row.incidents_data
    before = IncidentsData() if stored is None else convert(stored, IncidentsData)
    form_errors = FormErrors()
    values: dict[str, Timestamp | None] = {}
    for field, until in requested.items():
        if isinstance(until, UnsetType):
            continue
        if until is not None and until > ctx.now + limits.INCIDENT_WINDOW_MAX * 1000:
            hours = limits.INCIDENT_WINDOW_MAX // 3600
            form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, f"A pause ends at most {hours} hours from now.")
        values[field] = until if until is not None and until > ctx.now else None
    form_errors.raise_if_any()
    after = structs.replace(before, **values)
    if after != before:
        await change_guild(ctx, incidents_data=to_plain(after))
    return after
