"""One file per group of commands: parse, call one function of the core, render."""
