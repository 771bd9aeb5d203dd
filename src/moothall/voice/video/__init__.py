"""Video and shared screens of browsers: packets are forwarded layer by layer, and never decoded."""
