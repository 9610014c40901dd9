"""What happens, as it happens: a ring of events that streams read, each at its own pace."""
