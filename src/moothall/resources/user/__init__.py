"""Users: accounts of people and bots. `account` registers and changes them."""
