"""Variables that the host sets and reads."""
