"""What any server program needs: budgets for what work costs, and pools of threads for work that is long.

Nothing here knows the API, HTTP or the gateway: who is over a budget, or finds a queue full, gets an exception, which
the API turns into a response.
"""
