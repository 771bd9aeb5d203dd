"""Teams: people who own applications together, each with a role.

ClusterMembers: application (which asks here who may manage what a team owns).
"""
