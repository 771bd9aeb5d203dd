"""The engine of SQLite: one writer with group commit, readers, replicas, backups."""
