"""Throughput, latency and memory, as ratios to a bare server that sends the same bytes in the same run."""
