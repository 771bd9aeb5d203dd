"""Scheduled events: what a guild plans, who wants to come, and how an event begins and ends, also by itself.

An event in a stage channel opens the stage when it starts and ends with it (`stage`). An event that recurs
goes on to its next occurrence instead of ending, with those who wanted to come.
"""
