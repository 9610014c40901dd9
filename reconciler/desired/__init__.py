"""Documents to resources. Pure: what is known only later is a `Ref`."""
