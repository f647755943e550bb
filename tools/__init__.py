"""The ``lamina`` command and its subcommands."""
