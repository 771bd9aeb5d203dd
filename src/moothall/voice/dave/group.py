"""The group of a room: who is in it, what is proposed, which commit counts, and when the room moves on.

A group is not established until the first commit; until then each client has a group of its own with itself alone, and
is proposed all others. Protocol version 0 is a room without end-to-end encryption: someone in it cannot do more.
"""

import asyncio
from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Protocol

from moothall.voice.dave.encoding import MlsError, vector
from moothall.voice.dave.messages import (
    APPEND,
    REVOKE,
    Commit,
    ExternalSender,
    KeyPackage,
    Proposal,
    read_commit,
    read_key_package,
    split_welcome,
)

VERSION: Final = 1
"""The version of the protocol that is served."""
TRANSITION_SECONDS: Final = 2.0
"""How long a transition waits for clients that are not ready."""
_TRANSITIONS: Final = 1 << 16


class DaveOpcode(IntEnum):
    """Opcodes of the protocol; from 25 to 30 their messages are binary."""

    PREPARE_TRANSITION = 21
    EXECUTE_TRANSITION = 22
    TRANSITION_READY = 23
    PREPARE_EPOCH = 24
    EXTERNAL_SENDER = 25
    KEY_PACKAGE = 26
    PROPOSALS = 27
    COMMIT_WELCOME = 28
    ANNOUNCE_COMMIT = 29
    WELCOME = 30
    INVALID_COMMIT_WELCOME = 31


class Member(Protocol):
    """A session, as the group knows it."""

    dave_version: int

    @property
    def user_id(self) -> int:
        """Its user."""

    def send(self, op: int, data: object) -> None:
        """Send a JSON message."""

    def send_binary(self, op: int, data: bytes) -> None:
        """Send a binary message."""


class RoomEncryption:
    """The group of a room. Members are added by `join` and removed by `leave`."""

    def __init__(self, channel_id: int, sender: ExternalSender) -> None:
        self.version = VERSION
        """0 while someone in the room has no end-to-end encryption."""
        self.epoch = 0
        """0 for a group that is not established."""
        self._group_id = channel_id.to_bytes(8, "big")
        self._sender = sender
        self._members: dict[int, Member] = {}
        """Everyone in the room, by user."""
        self._leaves: list[int | None] = []
        """The user of each leaf of the group."""
        self._proposals: dict[bytes, Proposal] = {}
        """Those that no commit has carried out, by reference."""
        self._pending: set[int] = set()
        """Users who have a leaf, but have left their group themselves, and are to be added again."""
        self._transition = 0
        """The number of the transition announced last."""
        self._waiting: set[int] = set()
        """The users who are not ready for it."""
        self._timer: asyncio.TimerHandle | None = None

    # Who is in the room

    def join(self, member: Member) -> int:
        """Add someone to the room; the protocol version that they begin with, which they are told before `welcome`."""
        self._members[member.user_id] = member
        if self.version and not member.dave_version:
            self._downgrade()
        return self.version

    def welcome(self, member: Member) -> None:
        """Let a member who knows the version take part in the group."""
        if self.version:
            member.send_binary(DaveOpcode.EXTERNAL_SENDER, self._sender.package)
            if not self.epoch:
                self._send_proposals([member], list(self._proposals.values()))

    def leave(self, user_id: int) -> None:
        """Remove someone from the room, and propose their removal to the group."""
        self._members.pop(user_id, None)
        if not self.version:
            if self._members and all(each.dave_version for each in self._members.values()):
                self.version = VERSION
                self._begin_anew(self._members.values())
            return
        self._make_ready(user_id)
        self._revoke_additions_of(user_id)
        in_group = [each for each in self._leaves if each in self._members]
        if self.epoch and len(self._members) == 1 and in_group:
            self._reset_for(self._members[in_group[0]])
        elif self.epoch:
            self._remove(user_id)

    # What members send

    def handle_binary(self, member: Member, op: int, data: bytes) -> None:
        """Handle a key package or a commit. Raises MlsError for what is none."""
        if not self.version or not member.dave_version:
            return
        if op == DaveOpcode.KEY_PACKAGE:
            self._take_key_package(member, read_key_package(data))
        elif op == DaveOpcode.COMMIT_WELCOME:
            self._take_commit(member, *read_commit(data))
        else:
            raise MlsError("clients send no such message")

    def handle_ready(self, member: Member, transition_id: int) -> None:
        """Note that a member is ready for a transition."""
        if transition_id == self._transition:
            self._make_ready(member.user_id)

    def handle_invalid(self, member: Member) -> None:
        """Remove a member who cannot follow the group; their next key package adds them again."""
        if self.version and self.epoch:
            self._remove(member.user_id)

    def close(self) -> None:
        """End the group with its room."""
        if self._timer is not None:
            self._timer.cancel()

    # Proposals

    def _take_key_package(self, member: Member, key_package: KeyPackage) -> None:
        user_id = member.user_id
        if key_package.user_id != user_id:
            raise MlsError("the key package is another user's")
        self._revoke_additions_of(user_id)
        if self.epoch:
            self._remove(user_id)
        self._propose(self._sender.propose_add(self._group_id, self.epoch, key_package))

    def _remove(self, user_id: int) -> None:
        """Propose to remove a user from the group, unless they are not in it or it is proposed."""
        if user_id not in self._leaves:
            return
        self._pending.add(user_id)
        leaf = self._leaves.index(user_id)
        if not any(each.leaf == leaf for each in self._proposals.values()):
            self._propose(self._sender.propose_removal(self._group_id, self.epoch, leaf, user_id))

    def _propose(self, proposal: Proposal) -> None:
        self._proposals[proposal.reference] = proposal
        self._send_proposals(self._listeners(), [proposal])

    def _send_proposals(self, members: Iterable[Member], proposals: list[Proposal]) -> None:
        """Send proposals to members; those who have a group of their own are not proposed to themselves."""
        for member in members:
            messages = b"".join(each.message for each in proposals if self.epoch or each.user_id != member.user_id)
            if messages:
                member.send_binary(DaveOpcode.PROPOSALS, APPEND + vector(messages))

    def _revoke_additions_of(self, user_id: int) -> None:
        revoked = [each for each in self._proposals.values() if each.user_id == user_id and each.key_package]
        for proposal in revoked:
            del self._proposals[proposal.reference]
            data = REVOKE + vector(vector(proposal.reference))
            for member in self._listeners():
                if self.epoch or member.user_id != user_id:
                    member.send_binary(DaveOpcode.PROPOSALS, data)

    def _listeners(self) -> list[Member]:
        """Who follows the proposals: the members of the group, and everyone before there is one."""
        if not self.epoch:
            return [each for each in self._members.values() if each.dave_version]
        return [self._members[each] for each in self._leaves if each in self._members and each not in self._pending]

    # Commits

    def _take_commit(self, member: Member, commit: Commit, welcome: bytes) -> None:
        """Take a commit, if it is the first one of its epoch and carries out all that is proposed."""
        user_id = member.user_id
        expected = {reference for reference, each in self._proposals.items() if self.epoch or each.user_id != user_id}
        if commit.group_id != self._group_id:
            raise MlsError("the commit is of another group")
        sender = (self._leaves[commit.leaf] if commit.leaf < len(self._leaves) else None) if self.epoch else user_id
        references = commit.references
        is_whole = len(references) == len(expected) and set(references) == expected
        if (
            user_id in self._pending
            or commit.epoch != self.epoch
            or sender != user_id
            or not references
            or not is_whole
        ):
            return  # a later or an earlier one than that which counts
        carried_out = [self._proposals[reference] for reference in references]
        welcomes = split_welcome(welcome) if welcome else {}
        added = [each.key_package for each in carried_out if each.key_package is not None]
        if any(each.reference not in welcomes for each in added):
            raise MlsError("the commit comes without the welcome of whom it adds")
        before = [each for each in self._leaves if each is not None] if self.epoch else [user_id]
        self._apply(user_id, carried_out)
        self._proposals.clear()
        self._pending.clear()
        self.epoch += 1
        self._announce(commit, before, {each.user_id: welcomes[each.reference] for each in added})

    def _apply(self, committer: int, proposals: list[Proposal]) -> None:
        """Change the leaves as clients do: removals first, then each addition at the first empty leaf."""
        if not self.epoch:
            self._leaves = [committer]
        for proposal in proposals:
            if proposal.key_package is None:
                self._leaves[proposal.leaf] = None
        for proposal in proposals:
            if proposal.key_package is None:
                continue
            if None in self._leaves:
                self._leaves[self._leaves.index(None)] = proposal.user_id
            else:
                self._leaves.append(proposal.user_id)
        while self._leaves and self._leaves[-1] is None:
            self._leaves.pop()

    def _announce(self, commit: Commit, before: list[int], welcomes: dict[int, bytes]) -> None:
        number = self._begin_transition(each for each in self._leaves if each is not None)
        prefix = number.to_bytes(2, "big")
        for user_id in before:
            member = self._members.get(user_id)
            if member is not None and user_id in self._leaves and user_id not in welcomes:
                member.send_binary(DaveOpcode.ANNOUNCE_COMMIT, prefix + commit.message)
        for user_id, welcome in welcomes.items():
            member = self._members.get(user_id)
            if member is not None:
                member.send_binary(DaveOpcode.WELCOME, prefix + welcome)

    # Transitions

    def _begin_transition(self, user_ids: Iterable[int]) -> int:
        """Begin a transition that waits for these users; its number, which is not 0."""
        if self._timer is not None:
            self._execute()
        self._transition = self._transition % (_TRANSITIONS - 1) + 1
        self._waiting = {each for each in user_ids if each in self._members}
        self._timer = asyncio.get_running_loop().call_later(TRANSITION_SECONDS, self._execute)
        return self._transition

    def _make_ready(self, user_id: int) -> None:
        self._waiting.discard(user_id)
        if not self._waiting and self._timer is not None:
            self._execute()

    def _execute(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waiting.clear()
        self._tell_all(DaveOpcode.EXECUTE_TRANSITION, {"transition_id": self._transition})

    def _downgrade(self) -> None:
        """Go on without end-to-end encryption, since someone cannot do more."""
        self._forget_group()
        self.version = 0
        number = self._begin_transition(each.user_id for each in self._members.values() if each.dave_version)
        self._tell_all(DaveOpcode.PREPARE_TRANSITION, {"protocol_version": 0, "transition_id": number})

    def _reset_for(self, member: Member) -> None:
        """Let the only member who is left begin a group of their own."""
        self._begin_anew([member])
        member.send(DaveOpcode.PREPARE_TRANSITION, {"protocol_version": self.version, "transition_id": 0})

    def _begin_anew(self, members: Iterable[Member]) -> None:
        """Let members begin groups of their own, and send their key packages."""
        self._forget_group()
        for member in members:
            member.send(DaveOpcode.PREPARE_EPOCH, {"protocol_version": self.version, "epoch": 1})
            member.send_binary(DaveOpcode.EXTERNAL_SENDER, self._sender.package)

    def _forget_group(self) -> None:
        self.epoch = 0
        self._leaves = []
        self._proposals.clear()
        self._pending.clear()

    def _tell_all(self, op: DaveOpcode, data: object) -> None:
        for member in self._members.values():
            if member.dave_version:
                member.send(op, data)
