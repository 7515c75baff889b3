"""The last questions: how many were random because no better one was ready, and how many had been asked before."""

from __future__ import annotations

import logging
from collections import deque

from tellmore.app.wire import Wire
from tellmore.store.ledger import AGAIN, CHOSEN, FALLBACK, Asked

log = logging.getLogger(__name__)

LATELY = 200
"""Questions that count as asked lately."""
FEWEST = 20
"""With fewer questions, a share says little."""
TOO_MANY = 0.05
"""From this share on, the owner is warned."""

SLOW = (
    "{share:.0f} % of the last {questions} questions were random, because people answer faster than questions can be chosen. "
    "Allow larger questions, such as grids, invite fewer people at once, or use a faster computer"
)
SHORT = (
    "{share:.0f} % of the last {questions} questions had been asked before, because there are few items for so many answers. Add "
    "items, or end the questions"
)


class AskedLately(Wire):
    """Shares of the last ``questions``: ``random``, because nothing better was ready, and ``repeated``, that is asked before
    with the same items and not repeated on purpose. ``warning`` says in words what is too much, and what to do."""

    questions: int
    random: float
    repeated: float
    warning: str | None


class Lately:
    """Counts questions as they are issued."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, frozenset[str]]] = set()
        self._last: deque[tuple[bool, bool]] = deque(maxlen=LATELY)

    def add(self, asked: Asked) -> None:
        """Count a question that was issued."""
        form = asked.question.kind, frozenset(asked.question.names)
        if asked.why != AGAIN:
            self._last.append((asked.why == FALLBACK, asked.why in (*CHOSEN, FALLBACK) and form in self._seen))
        self._seen.add(form)

    def clear(self) -> None:
        """Start again from zero."""
        self._seen.clear()
        self._last.clear()

    @property
    def random(self) -> float:
        """The share that was random because nothing better was ready; 0 if there were too few questions to say."""
        return sum(random for random, _ in self._last) / len(self._last) if len(self._last) >= FEWEST else 0.0

    def shares(self) -> AskedLately:
        """The shares now."""
        questions = len(self._last)
        random, repeated = (
            sum(each) / max(questions, 1) for each in (zip(*self._last, strict=True) if self._last else ((), ()))
        )
        warning = None
        for share, text in ((random, SLOW), (repeated, SHORT)):
            if warning is None and questions >= FEWEST and share > TOO_MANY:
                warning = text.format(share=100 * share, questions=questions)
        return AskedLately(questions=questions, random=random, repeated=repeated, warning=warning)

    def warn(self) -> None:
        """Write into the server's log what is too much, if anything is."""
        shares = self.shares()
        if shares.warning is not None:
            counted = {"random_share": shares.random, "repeated_share": shares.repeated}
            log.warning("Questions: %s.", shares.warning, extra=counted)
