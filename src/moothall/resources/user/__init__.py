"""Users: accounts of people and of bots, how they come to be and what others see of them."""
