"""The proxy of Activities: each application has an origin of its own, behind which its URL mappings lead to targets."""
