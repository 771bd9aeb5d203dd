"""Teams: users who own applications together, each with a role. `application.access` uses their roles."""
