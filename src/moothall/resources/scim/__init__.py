"""Accounts and groups that an identity provider manages by SCIM 2.0 (RFC 7643, RFC 7644)."""
