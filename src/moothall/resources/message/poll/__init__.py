"""Polls: a question that a message carries, with up to ten answers, and the votes of those who read it.

How many voted for an answer is counted as the votes come, so that showing a poll costs the same
whoever voted. A poll is over when its time is, or when its author ends it: the message then tells
the final counts, and another one announces the result.
"""
