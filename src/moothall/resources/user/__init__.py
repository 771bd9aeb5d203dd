"""Users: people and bots as the API shows them. How accounts come to be and change is `account`."""
