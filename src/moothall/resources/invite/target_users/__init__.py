"""Invites to certain users: a CSV file of user ids, the job that stores them, and who may see and accept the invite."""
