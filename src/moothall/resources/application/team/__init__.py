"""Teams: people who own applications together, each with a role.

Neighbours: application (which asks here who may manage what a team owns).
"""
