"""The rows of live stages. What opening and closing one does: `stage`, and with its event `scheduled_event`."""
