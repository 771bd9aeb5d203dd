"""The reason that goes with a change into the audit log: the header X-Audit-Log-Reason."""

from urllib.parse import unquote_to_bytes

from moothall.objects import limits
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FormCode


def read_reason(header: str) -> str | None:
    """The reason of a header, percent-encoded UTF-8 or plain text; None for an empty one.

    What only looks encoded (`50%ab off`) is left as it is. Raises Refusal (50035) beyond 512
    characters after decoding.
    """
    reason = header
    if "%" in header:
        try:
            reason = unquote_to_bytes(header).decode()
        except UnicodeDecodeError:
            reason = header
    reason = reason.replace("\0", "").strip()
    if len(reason) > limits.AUDIT_REASON_MAX:
        told = f"Must be {limits.AUDIT_REASON_MAX} or fewer in length."
        refuse_field("reason", FormCode.BASE_TYPE_MAX_LENGTH, told)
    return reason or None
