"""The tick: look, resolve, plan, gate, act, record; one file each. The only place that decides to send a mutation."""
