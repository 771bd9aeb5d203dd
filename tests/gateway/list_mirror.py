"""The member lists of a client, built from GUILD_MEMBER_LIST_UPDATE."""

from typing import Any


class ListMirror:
    """The member lists that a client keeps by GUILD_MEMBER_LIST_UPDATE."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = {}
        self.summaries: dict[str, tuple[int, int, dict[str, int]]] = {}
        self.ops: list[str] = []

    def apply(self, data: dict[str, Any]) -> None:
        """Apply one event."""
        rows = self.rows.setdefault(data["id"], [])
        groups = {group["id"]: group["count"] for group in data["groups"]}
        self.summaries[data["id"]] = (data["member_count"], data["online_count"], groups)
        for op in data["ops"]:
            self.ops.append(op["op"])
            if op["op"] == "DELETE":
                del rows[op["index"]]
            elif op["op"] == "INSERT":
                rows.insert(op["index"], op["item"])
            elif op["op"] == "UPDATE":
                assert row_id(rows[op["index"]]) == row_id(op["item"])
                rows[op["index"]] = op["item"]
            else:
                first, last = op["range"]
                rows.extend([None] * (last + 1 - len(rows)))
                items = op.get("items", [])
                rows[first : last + 1] = [*items, *([None] * (last + 1 - first - len(items)))]

    def shown(self, list_id: str = "everyone") -> list[str]:
        """The ids of the rows of a list: of groups, and of users with their names and statuses."""
        return [row_text(row) for row in self.rows.get(list_id, []) if row is not None]


def row_id(row: dict[str, Any]) -> str:
    return row["group"]["id"] if "group" in row else row["member"]["user"]["id"]  # type: ignore[no-any-return]


def row_text(row: dict[str, Any]) -> str:
    if "group" in row:
        return f"[{row['group']['id']}]"
    member = row["member"]
    assert member["presence"]["user"]["id"] == member["user"]["id"]
    return f"{member['nick'] or member['user']['username']} {member['presence']['status']}"
