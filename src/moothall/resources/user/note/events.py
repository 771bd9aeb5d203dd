"""The gateway event of notes."""

from typing import ClassVar

from moothall.api.events import UserEvent
from moothall.objects.ids import UserId


class UserNoteUpdate(UserEvent, frozen=True, kw_only=True):
    """USER_NOTE_UPDATE: the user wrote or removed a note. Sent to the user's own sessions."""

    name: ClassVar[str] = "USER_NOTE_UPDATE"
    about_id: UserId
    note: str

    def payload(self) -> object:
        """Return the user whom the note is about, and its text."""
        return {"id": str(int(self.about_id)), "note": self.note}
