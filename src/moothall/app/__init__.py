"""The composition root: builds every service, routes connections to them, starts and stops them."""
