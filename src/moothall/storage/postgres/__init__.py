"""The engine of PostgreSQL: pool, group commit, batched reads, unknown outcomes."""
