"""The demo record as text and as JSON."""

from moothall.demo.record import DemoRecord
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import to_plain


def webhook_url(record: DemoRecord, base_url: str) -> str:
    """The URL of the demo's webhook."""
    return f"{base_url}/api/webhooks/{int(record.webhook.id)}/{record.webhook.token}"


def curl_line(record: DemoRecord, base_url: str) -> str:
    """A shell command that posts through the webhook."""
    return (
        f"curl -H 'Content-Type: application/json' -d '{{\"content\": \"Hello, hall!\"}}' "
        f"'{webhook_url(record, base_url)}?wait=true'"
    )


def as_text(record: DemoRecord, base_url: str) -> str:
    """The guild, the credentials and a first command, as text."""
    lines = [
        f'The demo community is the guild "{record.guild.name}" ({int(record.guild.id)}).',
        "",
        "  Who can log in:",
    ]
    width = max(len(user.username) for user in record.people)
    lines += [f"    {user.username:<{width}}  {user.password}" for user in record.people]
    lines += ["", f"  {record.people[0].username} is also the operator of this server."]
    lines += ["", f"  The token of the bot {record.bot.username}:", f"    {record.bot.token}"]
    lines += ["", "  Post into #general through its webhook:", f"    {curl_line(record, base_url)}"]
    return "\n".join(lines)


def as_json(record: DemoRecord, base_url: str) -> JsonObject:
    """Ids, tokens, passwords and URLs, for scripts. Ids are strings."""
    output: JsonObject = to_plain(record)
    output["url"] = base_url
    output["api_url"] = f"{base_url}/api/v10"
    output["gateway_url"] = base_url.replace("http", "ws", 1) + "/gateway"
    output["webhook"]["url"] = webhook_url(record, base_url)
    return output
