"""Attackers beside well-behaved clients: what one account or one network can do to everybody else."""
