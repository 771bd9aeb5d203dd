"""What a browser takes along to a provider and back: an encrypted cookie, which alone makes the answer count.

The `state` of the request is in it, so no one can let another person's browser take an answer that they have got. So
are the nonce of the id token and the verifier of the code (PKCE): an answer that was stolen is of no use elsewhere.
"""

import base64
import binascii
import hashlib
import hmac
from typing import Final

import msgspec
from msgspec import Struct

from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.single_sign_on.claims import Identity
from moothall.runtime.secrets import SecretBox, SecretUnreadable, new_token

STATE_SECONDS: Final = 900
_ABOUT: Final = b"single sign-on"
_LINK_ABOUT: Final = b"pending link"
_TEXT_MAX: Final = 3072
_LENGTH: Final = 43


class SignOnState(Struct, frozen=True, kw_only=True):
    """A request for which a browser was sent to a provider."""

    provider_id: Snowflake
    state: str
    nonce: str
    verifier: str
    next: str
    """The path to go on to."""
    undelete: bool
    expires_at: int
    """In milliseconds."""
    link_to: UserId | None = None
    """The account to link, whose user has proved that it is theirs; None for a login."""

    @classmethod
    def new(
        cls, provider_id: Snowflake, now: Timestamp, *, next_path: str, undelete: bool, link_to: UserId | None = None
    ) -> "SignOnState":
        """A new request."""
        return cls(
            provider_id=provider_id,
            state=new_token(_LENGTH),
            nonce=new_token(_LENGTH),
            verifier=new_token(_LENGTH),
            next=next_path,
            undelete=undelete,
            expires_at=int(now) + STATE_SECONDS * 1000,
            link_to=link_to,
        )

    @property
    def challenge(self) -> str:
        """The digest of the verifier (RFC 7636, S256)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def answers(self, state: str, provider_id: Snowflake, now: Timestamp) -> bool:
        """Whether the answer of a provider is to this request, in time."""
        same = hmac.compare_digest(self.state.encode(), state.encode())
        return same and self.provider_id == provider_id and self.expires_at > now

    def seal(self, box: SecretBox) -> str:
        """The encrypted text for the cookie."""
        return base64.urlsafe_b64encode(box.encrypt(msgspec.json.encode(_plain(self)), about=_ABOUT)).decode()

    @classmethod
    def unseal(cls, box: SecretBox, text: str) -> "SignOnState | None":
        """Decrypt the text of `seal`; None for any other text."""
        if not text or len(text) > _TEXT_MAX:
            return None
        try:
            opened = box.decrypt(base64.urlsafe_b64decode(text), about=_ABOUT)
            fields = msgspec.json.decode(opened)
        except (binascii.Error, ValueError, SecretUnreadable):
            return None
        link_to = fields.pop("link_to")
        return cls(
            **fields | {"provider_id": Snowflake(fields["provider_id"])},
            link_to=None if link_to is None else UserId(Snowflake(link_to)),
        )


def _plain(state: SignOnState) -> dict[str, object]:
    fields = {name: getattr(state, name) for name in state.__struct_fields__}
    link_to = None if state.link_to is None else int(state.link_to)
    return fields | {"provider_id": int(state.provider_id), "link_to": link_to}


class PendingLink(Struct, frozen=True, kw_only=True):
    """An identity that was proved, for an account whose owner must prove it before both are linked."""

    user_id: UserId
    identity: Identity
    next: str
    undelete: bool
    expires_at: int

    @classmethod
    def new(
        cls, user_id: UserId, identity: Identity, now: Timestamp, *, next_path: str, undelete: bool
    ) -> "PendingLink":
        """An identity that was proved now."""
        expires_at = int(now) + STATE_SECONDS * 1000
        return cls(user_id=user_id, identity=identity, next=next_path, undelete=undelete, expires_at=expires_at)

    @property
    def provider_id(self) -> Snowflake:
        """The provider of the identity."""
        return self.identity.provider_id

    def seal(self, box: SecretBox) -> str:
        """The encrypted text for the form."""
        fields = {name: getattr(self.identity, name) for name in self.identity.__struct_fields__}
        fields["provider_id"] = int(self.identity.provider_id)
        fields["email"] = None if self.identity.email is None else str(self.identity.email)
        plain = (int(self.user_id), fields, self.next, self.undelete, self.expires_at)
        return base64.urlsafe_b64encode(box.encrypt(msgspec.json.encode(plain), about=_LINK_ABOUT)).decode()

    @classmethod
    def unseal(cls, box: SecretBox, text: str, now: Timestamp) -> "PendingLink | None":
        """Decrypt the text of `seal`; None for any other text, and after a quarter of an hour."""
        try:
            opened = box.decrypt(base64.urlsafe_b64decode(text), about=_LINK_ABOUT)
            user_id, fields, next_path, undelete, expires_at = msgspec.json.decode(opened)
        except (binascii.Error, ValueError, SecretUnreadable):
            return None
        if expires_at <= now:
            return None
        fields["provider_id"] = Snowflake(fields["provider_id"])
        fields["groups"] = tuple(fields["groups"])
        fields["email"] = None if fields["email"] is None else EmailAddress(fields["email"])
        identity = Identity(**fields)
        return cls(
            user_id=UserId(Snowflake(user_id)),
            identity=identity,
            next=next_path,
            undelete=undelete,
            expires_at=expires_at,
        )
