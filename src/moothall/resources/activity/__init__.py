"""Activities: instances that run in channels, who takes part in them, and the shelf that lists what can be launched."""
