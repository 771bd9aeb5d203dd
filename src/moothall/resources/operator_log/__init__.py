"""The log of what operators have done: rows that are only added, each with a hash over all before it."""
