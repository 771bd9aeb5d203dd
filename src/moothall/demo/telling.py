"""The demo in words and in JSON."""

from typing import Any

from moothall.demo.record import DemoRecord
from moothall.objects.wire import to_plain


def webhook_url(record: DemoRecord, base_url: str) -> str:
    """Where the demo's webhook is posted to."""
    return f"{base_url}/api/webhooks/{int(record.webhook.id)}/{record.webhook.token}"


def curl_line(record: DemoRecord, base_url: str) -> str:
    """A command that posts through the webhook when it is pasted into a shell."""
    return (
        f"curl -H 'Content-Type: application/json' -d '{{\"content\": \"Hello, hall!\"}}' "
        f"'{webhook_url(record, base_url)}?wait=true'"
    )


def in_words(record: DemoRecord, base_url: str) -> str:
    """What is there, who can log in, and how to begin."""
    lines = [
        f'The demo community is the guild "{record.guild.name}" ({int(record.guild.id)}).',
        "",
        "  Who can log in:",
    ]
    width = max(len(person.username) for person in record.people)
    lines += [f"    {person.username:<{width}}  {person.password}" for person in record.people]
    lines += ["", f"  The token of the bot {record.bot.username}:", f"    {record.bot.token}"]
    lines += ["", "  Post into #general through its webhook:", f"    {curl_line(record, base_url)}"]
    return "\n".join(lines)


def as_json(record: DemoRecord, base_url: str) -> dict[str, Any]:
    """Ids, tokens, passwords and URLs, for scripts. Ids are strings."""
    told: dict[str, Any] = to_plain(record)
    told["url"] = base_url
    told["api_url"] = f"{base_url}/api/v10"
    told["gateway_url"] = base_url.replace("http", "ws", 1) + "/gateway"
    told["webhook"]["url"] = webhook_url(record, base_url)
    return told
