"""Scheduled events of guilds: creating and changing them, interested users, and automatic status transitions.

Starting an event in a stage channel opens the stage, and ending either ends the other (`operations.stages`). A
recurring event moves to its next occurrence instead of ending and keeps its interested users.
"""
