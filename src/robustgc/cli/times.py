"""How long the phases of a command take, from the start of the process on."""

import time

_WORDS = {"judging": "judging labels"}


class Times(dict[str, float]):
    """Seconds by phase; together they are the time since the process started, without gaps."""

    # Until here the interpreter was alone and busy, so that the time of its processor is time.
    _last = time.perf_counter() - time.process_time()

    def lap(self, phase: str) -> None:
        """Count the time since the last phase ended as one of that name."""
        now = time.perf_counter()
        self[phase] = round(now - Times._last, 3)
        Times._last = now


def in_words(seconds: dict[str, float]) -> str:
    """Return the sentence of these times."""
    phases = [f"{_WORDS.get(phase, phase)} {spent:.1f} s" for phase, spent in seconds.items()]
    return f"{', '.join(phases).capitalize()}."
