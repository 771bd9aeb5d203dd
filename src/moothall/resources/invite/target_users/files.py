"""Uploads of target users: a CSV file with one column of user ids, whose header is optional."""

from functools import partial
from typing import Final

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance, Uploads
from moothall.api.staged import StagedFile
from moothall.objects import limits
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake
from moothall.runtime.work_pool import PayerPool
from moothall.storage.blobs import Blobs

FIELD: Final = "target_users_file"
_HEADER: Final = "user_id"
_MAX_ERRORS: Final = 50


class TargetUsersUploads(Uploads):
    """One file of at most `INVITE_TARGETS_FILE_MAX` bytes."""

    maximum = 1
    part = FIELD

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:  # noqa: ARG002 all callers may upload as much
        """Allow one file; the access to the endpoint was checked before."""
        return Allowance(each=limits.INVITE_TARGETS_FILE_MAX, total=limits.INVITE_TARGETS_FILE_MAX)

    async def examine(self, file: StagedFile, blobs: Blobs, pool: PayerPool) -> None:
        """Set the `info` of the file: its user ids.

        Raises Refusal: 50035 with every invalid line, and for a part of the form with another name.
        """
        if file.field != FIELD:
            refuse_field([file.field], FormCode.MULTIPART_TYPE_PARSE, f'The file must be named "{FIELD}".')
        data = await blobs.get(file.key) or b""
        file.info = await pool.run(partial(read_user_ids, data), size=len(data))


def read_user_ids(data: bytes) -> list[Snowflake]:
    """The ids in a file, each once, in its order. Raises Refusal: 50035 with the first invalid lines."""
    form_errors, user_ids, count = FormErrors(), dict[Snowflake, None](), 0
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        text = line.strip().strip('"').strip()
        if not text or (number == 1 and not text.isdecimal()):
            continue
        try:
            user_ids[Snowflake.from_wire(text)] = None
        except ValueError:
            count += 1
            if count <= _MAX_ERRORS:
                form_errors.add(FIELD, FormCode.NUMBER_TYPE_COERCE, f"Line {number}: invalid user ID format")
    form_errors.raise_if_any()
    if not 0 < len(user_ids) <= limits.INVITE_TARGETS_MAX:
        refuse_field(FIELD, *FieldError.length(1, limits.INVITE_TARGETS_MAX))
    return list(user_ids)


def write_user_ids(user_ids: list[Snowflake]) -> bytes:
    """A file of ids under the header `user_id`."""
    return "\n".join([_HEADER, *(str(int(user_id)) for user_id in user_ids)]).encode() + b"\n"


def uploaded_user_ids(ctx: Context) -> list[Snowflake] | None:
    """The user ids of the request's file; None for a request without one."""
    return next((file.info for file in ctx.files if isinstance(file.info, list)), None)
