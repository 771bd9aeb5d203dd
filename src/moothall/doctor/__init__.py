"""`moothall doctor`: finds what is wrong with an installation, and says what to do about it."""
