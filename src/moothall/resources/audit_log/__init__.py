"""Reading the audit log, with the objects that its entries refer to. `Context.audit` writes the entries."""
