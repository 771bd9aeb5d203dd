"""Pure data without I/O: ids, permissions, errors, limits and one file for each object of the API."""
