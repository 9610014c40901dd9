"""One handler per family of live resources: observe, calls, send, settle. No policy, no retries, no journal."""
