"""The machine of the API: what every endpoint goes through, from the route to the response (read pipeline.py first)."""
