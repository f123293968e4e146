"""One thin file a command: arguments, one pipeline call, an exit code."""
