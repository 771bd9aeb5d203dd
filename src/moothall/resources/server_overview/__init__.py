"""What operators see first: how much there is, and what waits or has failed."""
