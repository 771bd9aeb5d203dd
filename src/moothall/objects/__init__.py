"""Pure data: ids, permissions, errors, limits and one file for each object of the API. No I/O."""
