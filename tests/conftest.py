"""Shared settings: reproducible hypothesis runs, generous deadlines on busy machines."""

from hypothesis import settings

settings.register_profile("robustgc", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("robustgc")
