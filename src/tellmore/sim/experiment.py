"""One trial: a learner asks, a simulated annotator answers, and everything is measured after each answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Protocol

import numpy as np

from tellmore import kinds
from tellmore.errors import PoolError
from tellmore.learner import Learner
from tellmore.policy.cost import PAPER_COST
from tellmore.policy.stopping import DeterminantRule
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.sim import annotators as people
from tellmore.sim.config import Config
from tellmore.sim.method import AUTHORS_W, METHODS, Method, MethodLearner
from tellmore.sim.peers import make_peer
from tellmore.sim.people import GOOD, PER_ANSWERS, Person, team_of
from tellmore.sim.rows import Row, Trial, on_curves
from tellmore.sim.starting import start_of
from tellmore.sim.truth import Truth, load_truth
from tellmore.sim.watched import Watched
from tellmore.types import Answer, Array

GAIN_DRAWS = 128
"""Draws, in each of four scramblings, for the bits of a question: accurate to about 0.01 bits."""
UNKNOWN = float("nan")
"""For values that were not measured, and those that a peer does not have because it has no belief."""


class Asker(Protocol):
    """What a trial needs: a learner, or a peer in its place. ``ask`` returns None if there is nothing left to ask."""

    def ask(self) -> Question | None: ...

    def tell(self, question: Question, answer: Answer, person: str = "") -> Any: ...

    def scores(self) -> tuple[Array, Array]: ...


def trial(config: Config, seed: int, *, truth: Truth | None = None) -> Trial:
    """Run one trial; the rows depend only on ``config``, ``seed`` and the pool.

    config: the setting.
    seed: the seed of people and questions.
    truth: the pool's scores, if they are already loaded.

    >>> len(trial(Config(question="label", answers=2), seed=0).rows)
    2
    """
    known = load_truth(config.pool, config.matrix) if truth is None else truth
    learner, notes = (make_peer(config, known, seed), {}) if config.peer else make_learner(config, known, seed)
    start = known.quality(learner.scores()[0])
    watched = Watched() if config.team else None
    rows = tuple(_rows(config, learner, known, seed, watched))
    return Trial(seed, start, rows, notes, () if watched is None else tuple(watched.report()))


def make_learner(config: Config, truth: Truth, seed: int) -> tuple[Learner, dict[str, float]]:
    """The learner of a trial. It gets the pool without scores; only the paper's methods get w and K fitted to them."""
    options: dict[str, Any] = dict(config.options)
    notes: dict[str, float] = {}
    parts, prior_options = options.pop("paper_parts", ()), dict(options.pop("prior_options", ()))
    method = Method(frozenset(parts), prior_options)
    whole = METHODS.get(config.mode)
    if whole is not None:
        method = Method(method.parts or whole.parts, {**whole.prior_options, **prior_options})
        w, K = (AUTHORS_W, truth.model.K_of_means) if "sharpness" in method.parts else (truth.model.w, truth.model.K)
        notes = {"w": w, "K": K}
        options = {**notes, "exclude_last": 0, "stop": DeterminantRule(), **options}  # a rule that needs no checks
    bare = Pool(truth.pool.X, truth.pool.ids, name=truth.pool.name)
    learner = MethodLearner(
        bare,
        config.question,
        config.size,
        method=method,
        seed=seed,
        acquisition=config.acquisition,
        cost=PAPER_COST,
        start=start_of(config, truth, seed),
        **options,
    )
    return learner, notes


def make_annotators(config: Config, truth: Truth) -> tuple[people.Annotator, ...]:
    """The simulated people of a trial, who answer in turn; one person if no team is given."""
    each = team_of(config.team) if config.team else (GOOD,)
    return tuple(_annotator(config, truth, person) for person in each)


def _annotator(config: Config, truth: Truth, person: Person) -> people.Annotator:
    respondent = _respondent(config, truth, person)
    if config.lapse:
        respondent = people.LapsingRespondent(respondent, config.lapse)
    slowing = (config.slowing + person.slowing) / PER_ANSWERS
    return people.Annotator(respondent, PAPER_COST, slowing=slowing, pace=person.pace)


def _respondent(config: Config, truth: Truth, person: Person) -> people.Respondent:
    if config.annotator == "model":
        model = truth.model
        z = model.theta[0] + truth.pool.X.astype(float) @ model.theta[1:]
        return people.ModelRespondent(z, model.w, model.K)
    source = _score_source(config, truth)
    unit = float(np.std(truth.scores.mean)) / PER_ANSWERS
    if config.drift:
        source = people.DriftingScores(source, config.drift * unit)
    if config.fatigue:
        source = people.TiredScores(source, config.fatigue * unit)
    scores = truth.scores
    if person == GOOD:
        return people.ScoreRespondent(source, scores.threshold)
    if person.camp < 1:
        source = people.CampScores(source, scores.threshold, person.camp, other_mind(truth))
    return people.PersonRespondent(person, source, scores.threshold, np.asarray(scores.mean, dtype=float))


def other_mind(truth: Truth) -> Array:
    """The scores [n] of another camp: a direction of the embeddings, always the same, that is not correlated with the scores but
    has their standard deviation."""
    X, mean = truth.pool.X.astype(float), np.asarray(truth.scores.mean, dtype=float)
    along = (X - X.mean(axis=0)) @ np.random.default_rng(0xCA3).standard_normal(X.shape[1])
    centred = mean - mean.mean()
    along -= centred * float(along @ centred / (centred @ centred))
    return np.asarray(along * (np.std(mean) / max(float(np.std(along)), 1e-12)))


def _score_source(config: Config, truth: Truth) -> people.ScoreSource:
    scores = truth.scores
    if config.annotator == "histogram" and scores.histogram is None:
        raise PoolError(f"the pool {truth.pool.name!r} has no histogram of ratings; use --annotator gaussian")
    if config.annotator != "gaussian" and scores.histogram is not None and scores.histogram_values is not None:
        return people.HistogramScores(scores.histogram, scores.histogram_values)
    return people.GaussianScores(scores.mean, scores.spread() if scores.has_spread else None)


def conversation(
    config: Config, learner: Asker, truth: Truth, seed: int, watched: Watched | None = None
) -> Iterator[tuple[Question, float, float]]:
    """Ask, answer and learn until the budget is spent or there is no question left. Yields each question after its answer is
    learnt, with its bits and the seconds so far. ``watched`` gets every answer before it is learnt."""
    team = make_annotators(config, truth)
    names = [f"person {number}" for number in range(1, len(team) + 1)] if config.team else [""]
    chances = [chances_of(seed, who) for who in range(len(team))]
    before: list[people.IntArray | None] = [None] * len(team)
    seconds = 0.0
    for answered in count() if config.answers is None else range(config.answers):
        question = learner.ask()
        if question is None:
            return
        bits = UNKNOWN
        if isinstance(learner, Learner) and _measured(config, answered + 1):
            bits = question_bits(learner, question, answered)
        turn, who = divmod(answered, len(team))
        (rng, clock), rows = chances[who], truth.pool.rows(question.items)
        reply, took = team[who].reply(question, rows, now=people.Moment(rng, turn, before[who]), clock=clock)
        before[who] = rows
        if watched is not None and isinstance(learner, Learner):
            watched.record(learner, question, reply, names[who], took)
        learner.tell(question, reply, names[who])
        seconds += took
        yield question, bits, seconds
        if config.seconds is not None and seconds >= config.seconds:
            return


def chances_of(seed: int, who: int) -> tuple[np.random.Generator, np.random.Generator]:
    """One person's random number generators, for answers and for times; the first person's are the same alone and in a team."""
    entropy = [seed, 0x7E11, *([who] if who else [])]
    rng, clock = (np.random.default_rng(child) for child in np.random.SeedSequence(entropy).spawn(2))
    return rng, clock


def question_bits(learner: Learner, question: Question, answered: int) -> float:
    """Expected information gain of a question, with fewer draws than the learner uses by default."""
    mean, cov = learner.joint_scores(question.items)
    rng = np.random.default_rng([learner.seed, answered])
    return kinds.named(question.kind).gain(mean, cov, learner.behaviour, rng=rng, draws=GAIN_DRAWS).bits


def _measured(config: Config, number: int) -> bool:
    """Whether all measures are wanted after this answer."""
    return not config.sparse or on_curves(number)


def _rows(config: Config, learner: Asker, truth: Truth, seed: int, watched: Watched | None) -> Iterator[Row]:
    for number, (question, bits, seconds) in enumerate(conversation(config, learner, truth, seed, watched), start=1):
        measured = _measured(config, number)
        quality = truth.quality(learner.scores()[0], ranked=measured)
        mse = mse_scores = logdet = UNKNOWN
        if isinstance(learner, Learner) and measured:
            mse, mse_scores, logdet = _belief(learner, truth)
        yield Row(
            answer=number,
            kind=question.kind,
            size=question.size,
            accuracy=quality.accuracy,
            mse=mse,
            mse_scores=mse_scores,
            logdet=logdet,
            bits=bits,
            seconds=seconds,
            f1=quality.f1,
            average_precision=quality.average_precision,
        )
        if config.stop_at is not None and quality.accuracy >= config.stop_at:
            return


def _belief(learner: Learner, truth: Truth) -> tuple[float, float, float]:
    """Squared distances of the belief's mean from the classifiers of labels and of scores, and its log determinant."""
    return *truth.mse(learner.posterior.mean), float(learner.belief.logdet)
