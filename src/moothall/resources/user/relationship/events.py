"""Gateway events of relationships, each sent to one of the two users."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.api.events import UserEvent
from moothall.objects.relationship import PartialRelationship, Relationship


class AddedRelationship(Relationship, frozen=True, kw_only=True):
    """The `d` of RELATIONSHIP_ADD."""

    should_notify: bool | UnsetType = UNSET


class RelationshipAdd(UserEvent, frozen=True, kw_only=True):
    """RELATIONSHIP_ADD: a relationship was created, or got another type."""

    name: ClassVar[str] = "RELATIONSHIP_ADD"
    relationship: AddedRelationship

    def payload(self) -> object:
        """Return the relationship."""
        return self.relationship


class RelationshipUpdate(UserEvent, frozen=True, kw_only=True):
    """RELATIONSHIP_UPDATE: a nickname changed, or a user is ignored or no longer ignored."""

    name: ClassVar[str] = "RELATIONSHIP_UPDATE"
    relationship: PartialRelationship

    def payload(self) -> object:
        """Return the relationship without its user."""
        return self.relationship


class RelationshipRemove(UserEvent, frozen=True, kw_only=True):
    """RELATIONSHIP_REMOVE: a relationship ended."""

    name: ClassVar[str] = "RELATIONSHIP_REMOVE"
    relationship: PartialRelationship

    def payload(self) -> object:
        """Return the relationship as it was."""
        return self.relationship
