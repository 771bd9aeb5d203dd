"""Everything that changes interactions, announces them or sends them to applications."""
