"""Roles: what they may do, how they look, who stands above whom.

Every guild has @everyone, whose id is the guild's and whose position is 0. A role's holders are in
the members' rows; giving and taking roles is the member's business.
"""
