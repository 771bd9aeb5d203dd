"""SKUs: what an application offers. Related rooms: `entitlement` (who may use it) and `application`."""
