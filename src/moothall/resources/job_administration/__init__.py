"""Background jobs as operators see them: which wait, which were given up; running them again and dropping them."""
