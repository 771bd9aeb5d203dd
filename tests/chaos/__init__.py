"""Real faults against real processes, judged by what clients did and received."""
