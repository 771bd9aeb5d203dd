"""Background jobs as operators see them: which wait and which failed; running them again, and deleting them."""
