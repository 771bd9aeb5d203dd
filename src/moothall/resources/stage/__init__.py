"""Live stages as such: opening, renaming and closing one, with what the channel's chat says of it.

Its neighbour `scheduled_event` opens a stage with an event and ends both together; the rows are in
`stage_instance`, which stands above the two.
"""
