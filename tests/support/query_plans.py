"""The plans by which databases run queries, for tests that a query uses an index."""

from typing import Any

import apsw
import asyncpg

from moothall.storage.query import Query


async def explained(url: str, query: Query[Any], **values: object) -> str:
    """The plan by which a database runs a query in a table with enough rows to use an index."""
    if url.startswith("sqlite"):
        plan = query.plan("sqlite")
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        rows = list(connection.execute(f"EXPLAIN QUERY PLAN {plan.text}", plan.bind(values)))
        connection.close()
        return "\n".join(row[3] for row in rows)
    plan = query.plan("postgresql")
    server = await asyncpg.connect(url)
    await server.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off")
    rows = await server.fetch(f"EXPLAIN {plan.text}", *plan.bind(values))
    await server.close()
    return "\n".join(row[0] for row in rows)
