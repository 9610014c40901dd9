"""Who may in: tokens, sessions, log-in links, and the guard before all of it. Knows no route and no engine."""
