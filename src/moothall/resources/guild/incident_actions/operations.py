"""Beginning and ending the pauses of a guild."""

from msgspec import UnsetType, structs

from moothall.kernel.context import Context
from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.guild import IncidentsData
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.resources.guild.operations import change_guild


async def set_windows(ctx: Context, **wanted: Timestamp | UnsetType | None) -> IncidentsData:
    """Set until when a pause of the guild entered lasts, by the field's name; the incidents data as they are then.

    A moment that has passed is as good as none. What changes nothing is neither recorded nor
    announced. Raises Refusal: 400/50035 for more than a day ahead.
    """
    stored = ctx.guild.row.incidents_data
    before = IncidentsData() if stored is None else convert(stored, IncidentsData)
    form_errors = FormErrors()
    values: dict[str, Timestamp | None] = {}
    for field, until in wanted.items():
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
