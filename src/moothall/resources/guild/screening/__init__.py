"""Membership screening: the form that new members agree to (decisions of the project: Invites, widget, screens).

In a guild with the feature MEMBER_VERIFICATION_GATE_ENABLED, users join as pending (`membership.join_guild`). The
access check limits the permissions of pending members to reading. This folder has the form, and the responses: agreeing
to a form of rules ends pending, answering questions makes a join request (`join_request`) that moderators review.
"""
