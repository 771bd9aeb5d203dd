"""The reason of an audit log entry: the header X-Audit-Log-Reason."""

from urllib.parse import unquote_to_bytes

from moothall.objects import limits
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FormCode


def read_reason(header: str) -> str | None:
    """Decode the header, percent-encoded UTF-8 or plain text; None for an empty one.

    A text that is not valid percent-encoded UTF-8 (`50%ab off`) is kept as it is. Raises Refusal: 50035 for more than
    512 characters after decoding.
    """
    reason = header
    if "%" in header:
        try:
            reason = unquote_to_bytes(header).decode()
        except UnicodeDecodeError:
            reason = header
    reason = reason.replace("\0", "").strip()
    if len(reason) > limits.AUDIT_REASON_MAX:
        message = f"Must be {limits.AUDIT_REASON_MAX} or fewer in length."
        refuse_field("reason", FormCode.BASE_TYPE_MAX_LENGTH, message)
    return reason or None
