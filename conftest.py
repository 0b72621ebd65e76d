"""How many examples property tests try: a few, always the same, with `make test`, and many
new ones with `make test-long`. A slow machine is not a failure in either."""

from hypothesis import settings

settings.register_profile("suite", settings.get_profile("ci"), max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=500, print_blob=True)
