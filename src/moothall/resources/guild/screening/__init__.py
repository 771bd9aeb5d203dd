"""Membership screening: what newcomers have to agree to (decisions of the project: Invites, widget, screens).

A guild with the feature MEMBER_VERIFICATION_GATE_ENABLED lets people in as pending (`membership.join_guild`);
whoever is pending may look around and do nothing else, which the kernel sees to. Here are the form and the
answers to it.
"""
