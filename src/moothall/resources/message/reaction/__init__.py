"""Reactions: the emojis under a message, who put them there and how many they are.

`reaction_counts` has a row for each emoji of a message, `reactions` one for each user as well; both
change together. A message's `reacted` tells whether there can be anything to look up.
"""
