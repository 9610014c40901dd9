"""AWS: accounts, sessions, the table of calls that change something, and the meaning of errors."""
