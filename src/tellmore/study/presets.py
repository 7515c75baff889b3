"""Ready-made studies. ``paper`` is the study of Appendix C: response times of ranking and of selecting the highest."""

from __future__ import annotations

from collections.abc import Callable

from tellmore.errors import SettingError
from tellmore.study.settings import Choice, Completion, Design, Gold, Pay, PersonQuestion, Practice, Stage, Study, Texts

ELIGIBILITY = """\
You can take part if you are at least 18 years old and English is your first language.

You need a computer, tablet or phone, about 20 quiet minutes, and no help from other people or programs."""

CONSENT = """\
You are asked to take part in a study of how long people need to answer questions about words.

You will see 50 short questions. For each answer we store what was shown, what you chose and how long it took. We do not \
ask for your name. The voluntary questions about yourself may be left empty.

There are no known risks beyond those of everyday reading. You may stop at any time by closing this page; opening the \
same link again continues where you stopped. What you gave until then can be deleted on request."""

INSTRUCTIONS = """\
There are two kinds of questions, and you get all of one kind before the other.

Select: you see a few words. Choose the most positive word of the list, even if all of them are negative. Then say whether \
the word you chose has a positive or a negative connotation.

Rank: you see a few words. Put them in order, the most positive word on top, the most negative at the bottom. Then move the \
divider so that words with a positive connotation are above it and words with a negative connotation below. All words may \
be on one side.

Answer by your own feeling, without looking anything up, and at a natural pace. Please do not pause in the middle of a \
question; pause between questions if you need to."""

DEBRIEF = """\
Thank you. You answered all questions.

We study how the time for an answer grows with the number of words shown. Some questions had an obvious answer; they tell \
us that people read what is shown."""

GOLD = (
    Gold(order=("amazing", "rejection"), n_positive=1),
    Gold(order=("bad", "horrible"), n_positive=0),
    Gold(order=("worried", "terrified"), n_positive=0),
    Gold(order=("inspiring", "boring"), n_positive=1),
    Gold(order=("happy", "sad"), n_positive=1),
)
"""The paper's five word pairs, the more positive word first."""

COMPREHENSION = (
    Choice(
        question="All words of a select question are negative. What do you do?",
        options=("Choose none of them", "Choose the least negative one and call it negative", "Choose the worst one"),
        correct=1,
    ),
    Choice(
        question="In a rank question, where does the most positive word go?",
        options=("On top", "At the bottom", "Just below the divider"),
        correct=0,
    ),
    Choice(
        question="In a rank question, what does the divider do?",
        options=(
            "It separates words you know from words you do not",
            "It always stays in the middle",
            "It separates positive words from negative ones",
        ),
        correct=2,
    ),
)

DEMOGRAPHICS = (
    PersonQuestion(name="age", question="How old are you, in years?", type="number"),
    PersonQuestion(
        name="sex", question="What is your sex?", type="choice", options=("Female", "Male", "Prefer not to say")
    ),
    PersonQuestion(name="country_of_birth", question="In which country were you born?"),
    PersonQuestion(
        name="ethnicity",
        question="Which describes you best?",
        type="choice",
        options=("Asian", "Black", "Mixed", "White", "Other", "Prefer not to say"),
    ),
    PersonQuestion(
        name="student",
        question="Are you a student?",
        type="choice",
        options=("Yes", "No", "Prefer not to say"),
    ),
)


def paper_study(code: Callable[[], str], *, seed: int = 0) -> Study:
    """The paper's study; ``code`` makes a fresh completion code at each call."""
    return Study(
        title="Words and their feeling",
        design=Design(seed=seed),
        stages=(
            Stage(name="early", first=1, last=5),
            Stage(name="mid", first=198, last=202),
            Stage(name="late", first=998, last=1002),
        ),
        gold=GOLD,
        practice=(
            Practice(kind="select_high", items=("pleasant", "awful", "dull")),
            Practice(kind="rank", items=("nasty", "wonderful", "fine")),
        ),
        comprehension=COMPREHENSION,
        demographics=DEMOGRAPHICS,
        texts=Texts(eligibility=ELIGIBILITY, consent=CONSENT, instructions=INSTRUCTIONS, debrief=DEBRIEF),
        completion=Completion(
            complete=code(),
            no_consent=code(),
            failed_comprehension=code(),
            url="https://app.prolific.com/submissions/complete?cc={code}",
        ),
        pay=Pay(amount=4.0, currency="USD"),
    )


PRESETS = {"paper": paper_study}


def preset(name: str, code: Callable[[], str], *, seed: int = 0) -> Study:
    """The preset ``name``."""
    if name not in PRESETS:
        raise SettingError(f"unknown preset {name!r}; the presets are {', '.join(PRESETS)}")
    return PRESETS[name](code, seed=seed)
