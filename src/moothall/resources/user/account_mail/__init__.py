"""Mail about accounts: links that are used once, and notices of what has changed."""
