"""The audit log: reading what the kernel has recorded, with everything that the entries mention."""
