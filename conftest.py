"""How many examples property tests try: few and always the same ones with `make test`, many and new
ones with `make test-long`. A slow machine is not a failure in either."""

from hypothesis import settings

settings.register_profile("suite", settings.get_profile("ci"), max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=500, print_blob=True)
