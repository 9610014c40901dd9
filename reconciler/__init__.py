"""The core: from a revision of the config repository to calls, and back into the journal.

Floors, highest first: cli > changes | reads > engine > resources > live | config_repo | desired | plan | journal.
The sandbox stands beside them and is imported by nobody but the demo and the tests.
"""
