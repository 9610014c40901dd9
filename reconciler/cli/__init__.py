"""Commands over the core. Each parses, calls one function, and renders."""
