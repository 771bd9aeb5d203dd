"""Authorizations: which scopes users have granted to applications, with the codes and tokens issued for them.

There is one authorization for each user and application. It is deleted with either of them, or when the user or the
application revokes it; its codes and tokens are deleted with it.
"""
