"""Changes: proposals, reviews and merges, over the engine and the config repository.

Here belongs what turns a wish into a branch, a plan, checks, reviews and one commit on the branch that is truth. It
never touches a cloud: it asks the engine to look. `fold` says what lines mean, `service.Changes` is the door.
"""
