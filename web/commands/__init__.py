"""Commands about the service: tokens, log-in links, its contract. They work on the state directory, beside a service
that runs or without one."""
