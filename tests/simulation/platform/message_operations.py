"""What clients do with messages: create, edit, delete, read, react, pin, vote, start threads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.simulation.platform.workload import EMOJIS, POLL, Call, Message, Workload, path_of
from tests.simulation.randomness import Choices


def message_key(text: str) -> tuple[str, str]:
    """The register of a message: its content, None while there is none."""
    return ("message", text.split(maxsplit=1)[0])


async def create_message(work: Workload, choices: Choices) -> None:
    """Send a message, at times one with a nonce again, as a client does whose connection was lost."""
    guild = work.guild(choices)
    author, channel = work.member(choices, guild), work.channel(choices, guild)
    await send_message(work, choices, guild, author, channel)


async def send_message(work: Workload, choices: Choices, guild: Any, author: Any, channel: str) -> None:
    """Send a message with a content of its own."""
    text = f"{work.number('m')} new"
    body: dict[str, Any] = {"content": text}
    if choices.chance(0.15) and not author.bot:
        body["poll"] = POLL
    if choices.chance(0.2):
        mentioned = choices.choice(work.people).id
        body["content"] = text = f"{text} <@{mentioned}>"
    if choices.chance(0.3):
        body |= {"nonce": text.split()[0], "enforce_nonce": True}
    message = Message(text, channel, guild.id, author, work.loop.time(), poll="poll" in body)
    work.messages.append(message)
    path = f"/channels/{channel}/messages"
    for attempt in range(3):
        call = await work.call(choices, author, "POST", path, body)
        work.write(call, (message_key(text), text))
        if call.accepted and call.reply is not None:
            if message.id and message.id != call.reply.json["id"]:
                work.repeated.append((message_key(text), message.id, call.reply.json["id"], call.response))
            message.id, message.response = call.reply.json["id"], min(message.response, call.response)
        if "nonce" not in body or not (call.unknown or (attempt == 0 and choices.chance(0.3))):
            break


async def edit_message(work: Workload, choices: Choices) -> None:
    """Change a message's content."""
    message = work.message(choices)
    if message is None or message.poll:
        return
    text = f"{message.text.split()[0]} {work.number('e')}"
    path = f"/channels/{message.channel}/messages/{message.id}"
    async with read_around(work, choices, message):
        call = await work.call(choices, message.author, "PATCH", path, {"content": text})
        work.write(call, (message_key(text), text))


async def delete_message(work: Workload, choices: Choices) -> None:
    """Delete a message, the author or a moderator."""
    message = work.message(choices)
    if message is None:
        return
    caller = message.author if choices.chance(0.5) else work.member(choices, work.guild_of(message.guild))
    path = f"/channels/{message.channel}/messages/{message.id}"
    async with read_around(work, choices, message):
        call = await work.call(choices, caller, "DELETE", path)
        work.write(call, (message_key(message.text), None))


@asynccontextmanager
async def read_around(work: Workload, choices: Choices, message: Message) -> AsyncIterator[None]:
    """Read a message's channel just before and just after something happens to it, at times."""
    reader = work.member(choices, work.guild_of(message.guild)) if choices.chance(0.3) else None
    if reader is not None:
        await read_channel(work, choices, reader, message.channel)
    yield
    if reader is not None:
        await read_channel(work, choices, reader, message.channel)


async def bulk_delete(work: Workload, choices: Choices) -> None:
    """Delete several messages at once."""
    some = work.message(choices)
    if some is None:
        return
    channel, guild = some.channel, work.guild_of(some.guild)
    chosen = choices.sample([m for m in work.messages if m.id and m.channel == channel][-8:], 3)
    if len(chosen) < 2:
        return
    caller, reason = work.member(choices, guild), work.number("r")
    body = {"messages": [message.id for message in chosen]}
    path = f"/channels/{channel}/messages/bulk-delete"
    work.deleting += body["messages"]
    call = await work.call(choices, caller, "POST", path, body, reason=reason)
    for message_id in body["messages"]:
        work.deleting.remove(message_id)
    keys = [message_key(message.text) for message in chosen]
    may_be_deleted = any(write.value is None for key in keys for write in work.history.writes[key])
    # Another request that deletes them may have been faster, and not be answered yet.
    may_be_deleted |= any(message_id in work.deleting for message_id in body["messages"])
    work.expect(reason, guild, call, at_least=0 if may_be_deleted else 1, what="bulk delete")
    work.write(call, *((message_key(message.text), None) for message in chosen))


async def list_messages(work: Workload, choices: Choices) -> None:
    """Read the newest messages of a channel."""
    guild = work.guild(choices)
    channel = work.channel(choices, guild)
    await read_channel(work, choices, work.member(choices, guild), channel)


async def read_channel(work: Workload, choices: Choices, reader: Any, channel: str, limit: int = 50) -> Call:
    """Read the newest messages of a channel, and record which were there and which were not."""
    path = f"/channels/{channel}/messages"
    call = await work.call(choices, reader, "GET", path, query={"limit": limit})
    if not call.accepted or call.reply is None:
        return call
    listed = call.reply.json
    texts: dict[str, str] = {}
    page = work.history.new_page()
    for each in listed:
        if each["type"] not in {0, 19} or not each["content"].startswith("m"):
            continue
        name = each["content"].partition(" ")[0]
        if name in texts:
            work.problems.append(f"channel {channel} has {name} twice")
        texts[name] = each["content"]
        check_reactions(work, name, each)
        work.read(call, ("pinned", name), each["pinned"] or None)
    oldest = min((int(each["id"]) for each in listed), default=0) if len(listed) == limit else 0
    for message in work.messages:
        name = message.text.split()[0]
        if name in texts:
            work.read(call, message_key(message.text), texts[name], page)
        elif message.channel == channel and (oldest == 0 or (message.id and int(message.id) >= oldest)):
            work.read(call, message_key(message.text), None, page)
    return call


def check_reactions(work: Workload, name: str, listed: Any) -> None:
    """Each reaction that a message shows has been made by a member."""
    for each in listed.get("reactions", ()):
        if each["count"] <= 0:
            work.problems.append(f"{name} has {each['count']} of {each['emoji']['name']}")


async def add_reaction(work: Workload, choices: Choices) -> None:
    """React to a message."""
    message = work.message(choices)
    if message is None:
        return
    emoji, person = choices.choice(EMOJIS), work.member(choices, work.guild_of(message.guild))
    path = f"/channels/{message.channel}/messages/{message.id}/reactions/{path_of(emoji)}/@me"
    call = await work.call(choices, person, "PUT", path)
    work.write(call, (("reaction", message.text.split()[0], emoji, person.id), True))


async def remove_reaction(work: Workload, choices: Choices) -> None:
    """Take a reaction back, or remove all of a message."""
    message = work.message(choices)
    if message is None:
        return
    reacted = [key for key in work.history.writes if key[0] == "reaction" and work.history.last(key)]
    if reacted and choices.chance(0.7):
        _, named, emoji, user_id = map(str, choices.choice(reacted))
        message = next(each for each in work.messages if each.text.split()[0] == named)
        person = next(each for each in work.people if each.id == user_id)
    else:
        emoji, person = choices.choice(EMOJIS), work.member(choices, work.guild_of(message.guild))
    name = message.text.split()[0]
    path = f"/channels/{message.channel}/messages/{message.id}/reactions"
    if choices.chance(0.2):
        call = await work.call(choices, person, "DELETE", path)
        work.write(call, *((("reaction", name, each, p.id), None) for each in EMOJIS for p in work.people))
        return
    path = f"{path}/{path_of(emoji)}/@me"
    call = await work.call(choices, person, "DELETE", path)
    work.write(call, (("reaction", name, emoji, person.id), None))


async def pin(work: Workload, choices: Choices) -> None:
    """Pin or unpin a message."""
    message = work.message(choices)
    if message is None:
        return
    guild = work.guild_of(message.guild)
    caller, method = work.member(choices, guild), choices.choice(("PUT", "DELETE"))
    path = f"/channels/{message.channel}/messages/pins/{message.id}"
    reason = work.number("r")
    call = await work.call(
        choices,
        caller,
        method,
        path,
        reason=reason,
    )
    work.expect(reason, guild, call, at_least=0, what="pin")
    work.write(call, (("pinned", message.text.split()[0]), True if method == "PUT" else None))


async def vote(work: Workload, choices: Choices) -> None:
    """Vote in a poll."""
    polls = [message for message in work.messages if message.poll and message.id]
    if not polls:
        return
    message = choices.choice(polls[-4:])
    person = work.member(choices, work.guild_of(message.guild))
    voters = [each for each in work.people if work.history.last(("vote", message.id, each.id))]
    if voters and choices.chance(0.5):
        person = choices.choice(voters)
    answers = choices.choice(([1], [2], []))
    path = f"/channels/{message.channel}/polls/{message.id}/answers/@me"
    call = await work.call(choices, person, "PUT", path, {"answer_ids": answers})
    work.write(call, (("vote", message.id, person.id), tuple(answers) or None))


async def end_poll(work: Workload, choices: Choices) -> None:
    """End a poll."""
    polls = [message for message in work.messages if message.poll and message.id]
    if not polls:
        return
    message = choices.choice(polls[-4:])
    path = f"/channels/{message.channel}/polls/{message.id}/expire"
    for _ in range(choices.choice((1, 2))):
        call = await work.call(choices, message.author, "POST", path)
        work.write(call, (("poll ended", message.id), True))


async def start_thread(work: Workload, choices: Choices) -> None:
    """Start a thread from a message, or one without."""
    guild = work.guild(choices)
    person, name = work.member(choices, guild), work.number("thread")
    message = work.message(choices)
    if message is not None and choices.chance(0.4):
        guild = work.guild_of(message.guild)
        path = f"/channels/{message.channel}/messages/{message.id}/threads"
        call = await work.call(choices, work.member(choices, guild), "POST", path, {"name": name})
    elif choices.chance(0.3):
        path = f"/channels/{guild.forum}/threads"
        text = f"{work.number('m')} new"
        body: dict[str, Any] = {"name": name, "message": {"content": text}}
        call = await work.call(choices, person, "POST", path, body)
    else:
        path = f"/channels/{guild.general}/threads"
        body = {"name": name, "type": 11 if choices.chance(0.5) else 12, "auto_archive_duration": 60}
        call = await work.call(choices, person, "POST", path, body)
    if call.accepted and call.reply is not None:
        thread = call.reply.json["id"]
        work.threads.append((guild.id, thread))
        work.history.initial["channel name", thread] = name


async def join_thread(work: Workload, choices: Choices) -> None:
    """Join or leave a thread, or add a member."""
    if not work.threads:
        return
    guild_id, thread = choices.choice(work.threads[-5:])
    guild = work.guild_of(guild_id)
    person, method = work.member(choices, guild), choices.choice(("PUT", "DELETE"))
    target = "@me" if choices.chance(0.6) else work.member(choices, guild).id
    await work.call(choices, person, method, f"/channels/{thread}/thread-members/{target}")


async def ack_message(work: Workload, choices: Choices) -> None:
    """Mark a channel as read up to a message."""
    message = work.message(choices)
    if message is None:
        return
    person = work.member(choices, work.guild_of(message.guild))
    path = f"/channels/{message.channel}/messages/{message.id}/ack"
    await work.call(choices, person, "POST", path, {"token": None})
