"""Web Push: notifications of direct messages and mentions to browsers of users who are not connected (RFC 8030)."""
