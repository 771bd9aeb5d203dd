"""Applications as operators find, disable and delete them."""
