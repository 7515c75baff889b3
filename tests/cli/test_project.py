"""The commands of projects, run as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import tellmore as tm
from tellmore import cli
from tellmore.data.project import open_project
from tellmore.store.state import load_state
from tellmore.store.status import status_of, words_of

N = 30


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with items.csv and emb.npz, as the current one."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(N, 4))
    labels = ["positive" if x > 0.5 else "negative" if x < -0.5 else "" for x in X[:, 0]]
    rows = "".join(f"i{row},text {row},{label}\n" for row, label in enumerate(labels))
    (tmp_path / "items.csv").write_text("id,text,label\n" + rows)
    np.savez(tmp_path / "emb.npz", ids=[f"i{row}" for row in range(N)], X=3 * X)
    return tmp_path


def run(command: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli.app, command.split())
    if code == 0 and result.exception:
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def fails(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a failing command prints."""
    with pytest.raises(SystemExit) as stopped:
        cli.main(command.split())
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


INIT = "init p --items items.csv --embeddings emb.npz --attribute calm"


def test_every_command_that_reads_a_csv_file_says_which_encoding_it_guessed(here: Path):
    texts = [
        "Die Straße führt über grüne Höhen",
        "Das Gebäude über der Straße ist früh geöffnet",
        "Müde Hände, kühle Höhen",
    ]
    rows = [f"é{row};{text};{'ja' if row % 2 else 'nein'}" for row, text in enumerate(texts)]
    Path("items.csv").write_bytes("\n".join(["id;text;label", *rows]).encode("mac_roman"))
    said = "items.csv was read as mac-roman (guessed), cells separated by semicolons. Line 2 reads"
    own = "--positive-value ja --negative-value nein"
    assert said in run(f"init q --items items.csv --embed tfidf --attribute calm {own}").output
    assert open_project(Path("q")).items[0]["text"] == texts[0]
    assert said in run("score q items.csv --out scores.csv").output
    assert said in run(f"import q items.csv {own}").output
    named = "--encoding mac_roman --delimiter ;"
    assert "was read as" not in run(f"score q items.csv --out scores.csv {named}").output


def test_init_says_what_was_found_and_what_comes_next(here: Path):
    said = run(INIT).output
    assert "30 items, 4 dimensions (scaled to length 1)" in said
    assert "labelled positive" in said
    assert said.strip().endswith("Next: tellmore serve p")
    settings = open_project("p").settings
    assert (settings.project.name, settings.project.attribute) == ("p", "calm")
    assert (settings.project.positive, settings.project.negative) == ("calm", "not calm")


def test_commands_to_copy_are_quoted_for_the_shell(here: Path, capsys: pytest.CaptureFixture[str]):
    result = CliRunner().invoke(cli.app, ["init", "my p", *INIT.split()[2:]])
    assert result.output.endswith("Created my p. Next: tellmore serve 'my p'\n")
    for command in (["backup", "my p", "a b.zip"], ["restore", "a b.zip", "my q"]):
        said = CliRunner().invoke(cli.app, command).output
        assert said.endswith(("tellmore restore 'a b.zip' FOLDER\n", "tellmore serve 'my q'\n"))
    with pytest.raises(SystemExit):
        cli.main(["status", "my r"])
    assert capsys.readouterr().err.endswith("make one with: tellmore init 'my r'\n")


def test_every_project_has_an_instruction(here: Path):
    run(INIT)
    assert open_project("p").settings.project.instruction.startswith("Decide for yourself what is calm;")
    run(INIT.replace("init p", "init q") + " --instruction Quietly")
    assert open_project("q").settings.project.instruction == "Quietly"


def test_init_asks_for_the_instruction_at_a_terminal(here: Path, monkeypatch: pytest.MonkeyPatch):
    from tellmore.cli import project

    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}", type("Terminal", (), {"isatty": lambda _: True})())
    asked: list[str] = []

    def prompt(question: str, default: str) -> str:
        asked.append(question)
        return default.upper()

    monkeypatch.setattr(project.typer, "prompt", prompt)
    assert project._instruction("calm").startswith("DECIDE FOR YOURSELF WHAT IS CALM;")
    assert len(asked) == 1


def test_closed_streams_are_no_terminal(here: Path):
    command = [sys.executable, "-m", "tellmore", *INIT.split()]
    closed = 'exec "$@" <&- >&- 2>&-'
    assert subprocess.run(["/bin/sh", "-c", closed, "sh", *command], check=False).returncode == 0
    assert subprocess.run(["/bin/sh", "-c", closed, "sh", *command[:3], "status", "p"], check=False).returncode == 0


def test_init_for_scripts(here: Path):
    found = json.loads(run(INIT + " --json").output)
    assert (found["items"], found["dimensions"]) == (N, 4)


def test_labels_become_answers_and_are_learnt_from(here: Path):
    run(INIT)
    state = load_state(open_project("p"))
    labelled = [item for item in open_project("p").items if item.get("label")]
    assert len(state.effects) == len(labelled) > 5
    probability = dict(zip(state.pool.ids, state.learner.probabilities(), strict=True))
    right = [(probability[item["id"]] > 0.5) == (item["label"] == "positive") for item in labelled]
    assert np.mean(right) > 0.85
    assert run("import p items.csv").output.startswith("0 answers added"), "init has taken them already"
    assert len(load_state(open_project("p")).effects) == len(labelled)


def test_examples_are_a_start_without_being_answers(here: Path):
    (here / "items.csv").write_text("id,text\n" + "".join(f"i{row},t\n" for row in range(N)))
    run(INIT + " --like i1,i2 --unlike i3")
    state = load_state(open_project("p"))
    assert not state.effects
    assert open_project("p").settings.start.like == ("i1", "i2")
    probability = dict(zip(state.pool.ids, state.learner.probabilities(), strict=True))
    assert min(probability["i1"], probability["i2"]) > probability["i3"]


def test_status_says_what_the_answers_think_of_a_start(here: Path):
    run(INIT)
    assert json.loads(run("status p --json").output)["start_agreement"] is None
    run(INIT.replace("init p", "init q") + " --like i1,i2 --unlike i3")
    found = json.loads(run("status q --json").output)
    assert 0 <= found["start_agreement"] <= 1
    said = " ".join(run("status q").output.split())
    assert found["start_verdict"] in said
    assert ("your answers agree with the start" in said) == (found["start_order"] >= 0.7)
    assert f"{100 * found['start_agreement']:.0f} %" in said


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (
            "--like zz",
            "no item has the id or the text 'zz', and it cannot be used as a word: the vectors",
        ),
        ("--like i1 --unlike i1", "'i1' is named both"),
        ("--like i1,,i2", "an example is empty"),
        ("--like i1 --scores-column label", "not from both"),
        ("--scores-column nowhere", "nowhere"),
    ],
)
def test_wrong_starts_leave_nothing(here: Path, capsys, start, said):
    before = set(here.iterdir())
    assert said in fails(f"{INIT} {start}", capsys)
    assert set(here.iterdir()) == before


def test_an_earlier_project_is_a_start_among_others(here: Path, capsys):
    run(INIT)
    (here / "new.csv").write_text("id,text\n" + "".join(f"i{row},t\n" for row in range(N)))
    run("init q --items new.csv --embeddings emb.npz --attribute calm --prior-from p")
    before, after = load_state(open_project("p")), load_state(open_project("q"))
    assert not after.effects
    assert np.mean(after.learner.predict() == before.learner.predict()) > 0.9
    assert after.learner.start_weight is not None  # one belief among several
    np.savez(here / "wide.npz", ids=[f"i{row}" for row in range(N)], X=np.random.default_rng(0).normal(size=(N, 5)))
    said = fails("init r --items new.csv --embeddings wide.npz --attribute calm --prior-from p", capsys)
    assert "takes 4 dimensions, the new items have 5" in said
    assert not (here / "r").exists()
    said = fails("init r --items new.csv --embeddings emb.npz --as-given --attribute calm --prior-from p", capsys)
    assert "scales vectors to length 1 and the other does not" in said


def test_an_earlier_project_without_answers_is_refused_at_once(here: Path, capsys):
    (here / "new.csv").write_text("id,text\n" + "".join(f"i{row},t\n" for row in range(N)))
    run("init p --items new.csv --embeddings emb.npz --attribute calm")
    before = set(here.iterdir())
    said = fails("init q --items new.csv --embeddings emb.npz --attribute calm --prior-from p", capsys)
    assert "--prior-from p: it has no answers" in said
    assert set(here.iterdir()) == before


def test_an_earlier_project_is_the_only_prior_if_the_settings_say_so(here: Path):
    run(INIT)
    (here / "new.csv").write_text("id,text\n" + "".join(f"i{row},t\n" for row in range(N)))
    run("init q --items new.csv --embeddings emb.npz --attribute calm --prior-from p")
    settings = here / "q" / "tellmore.toml"
    settings.write_text(
        settings.read_text().replace('prior = "pool"', 'prior = "earlier"').replace("earlier = true", "")
    )
    before, after = load_state(open_project("p")).learner, load_state(open_project("q")).learner
    assert after.start_weight is None
    assert (after.behaviour, after.w) == (before.behaviour, before.w)
    assert np.array_equal(after.predict(), before.predict())
    assert json.loads(run("status q --json").output)["answers"] == 0


def test_status(here: Path):
    run(INIT)
    found = json.loads(run("status p --json").output)
    assert found["items"] == N
    assert found["answers"] > 5
    assert found["accuracy"] is None
    assert "answers" in run("status p").output
    state = load_state(open_project("p"))
    shown = dict(replace(status_of(state), prevalence=0.2).lines(words_of(state), "calm"))
    assert shown["calm among random items"] == "20 %"


def test_import_and_replay(here: Path):
    run(INIT)
    (here / "pairs.csv").write_text("winner,loser\ni0,i1\ni2,i3\n")
    assert run("import p pairs.csv").output == "2 answers added\n"
    assert run("import p pairs.csv").output == "0 answers added, 2 were already there\n"
    run("export p --format jsonl --out log.jsonl")
    (here / "items.csv").write_text("id,text\n" + "".join(f"i{row},t\n" for row in range(N)))
    run("init q --items items.csv --embeddings emb.npz --attribute calm")
    found = json.loads(run("import q log.jsonl --json").output)
    assert found["added"] == found["found"] == len(load_state(open_project("p")).effects)
    one, two = (load_state(open_project(name)).learner.posterior for name in "pq")
    assert np.allclose(one.mean, two.mean, atol=1e-12)
    checks = json.loads(run("replay p --json").output)
    assert all(check["same"] for check in checks)
    assert checks[0]["difference"] <= 1e-8


def test_comparisons_without_labels_teach_the_order_and_not_the_level(here: Path):
    (here / "items.csv").write_text("id,text\n" + "".join(f"i{row},t\n" for row in range(N)))
    run(INIT)
    project = open_project("p")
    score = dict(zip(project.pool.ids, project.pool.X[:, 0], strict=True))
    order = sorted(score, key=score.__getitem__, reverse=True)
    (here / "pairs.csv").write_text("winner,loser\n" + "".join(f"{order[n]},{order[-1 - n]}\n" for n in range(12)))
    run("import p pairs.csv")
    learner = load_state(project).learner
    belief = learner.posterior
    found = dict(zip(project.pool.ids, learner.decision_function(project.pool.X), strict=True))
    assert all(found[order[n]] > found[order[-1 - n]] for n in range(12))
    # Slice sampling of the exact posterior gives 0.79 to 0.80 for K from 5 to 9: a dozen pairs leave three directions open.
    assert belief.mean[1] / np.linalg.norm(belief.mean[1:]) == pytest.approx(0.795, abs=0.04)
    # The level, the score of the pool's centre, is known as before.
    centre = np.concatenate([[1.0], project.pool.X.mean(axis=0, dtype=float)])
    assert centre @ belief.mean == pytest.approx(0, abs=0.005)  # sampled moments
    beginning = tm.Learner(project.pool).posteriors.beliefs
    for one, before in zip(learner.posteriors.beliefs, beginning, strict=True):
        assert centre @ one.cov @ centre == pytest.approx(centre @ before.cov @ centre, rel=0.01)
    exact = tm.Learner(project.pool, bound="centred")
    for question, answer in learner.history:
        exact.tell(question, answer)
    assert centre @ exact.posterior.mean == pytest.approx(0, abs=1e-6)
    for one, before in zip(exact.posteriors.beliefs, beginning, strict=True):
        assert centre @ one.cov @ centre == pytest.approx(centre @ before.cov @ centre, rel=1e-5)


def test_a_replay_that_differs_fails(here: Path, monkeypatch):
    from tellmore.export import replay

    run(INIT)
    state = load_state(open_project("p"))
    moved = replay._compared("x", state, state, 1e-8)
    assert moved.same
    monkeypatch.setattr(replay, "_exported", lambda whole: list(whole.events)[:-2])
    assert not json.loads(run("replay p --json", code=1).output)[0]["same"]


def test_replay_compares_the_saved_state_too(here: Path):
    from tellmore.store.fold import Fold
    from tellmore.store.ledger import Ledger
    from tellmore.store.repository import Repository
    from tellmore.store.snapshots import SnapshotKeeper

    run(INIT)
    project = open_project("p")
    repository = Repository(project.database_url)
    half = list(repository.since())[:10]
    folded = Fold.of(Ledger(project.settings, half), project.pool)
    keeper = SnapshotKeeper(repository, project.pool)
    keeper._saved_at = -1000
    assert keeper.save_if_due(folded)
    repository.close()
    checks = json.loads(run("replay p --json").output)
    assert [check["what"] for check in checks][1] == "the saved state and the answers since"
    assert all(check["same"] for check in checks)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("c.onnx", ["c.onnx"]),
        ("c.skops", ["c.skops"]),
        ("b.npz", ["b.npz"]),
        ("b.json", ["b.json"]),
        ("s.csv", ["s.csv", "s.csv.provenance.json"]),
        ("s.parquet", ["s.parquet"]),
        ("log.jsonl", ["log.jsonl"]),
        ("report.html", ["report.html"]),
    ],
)
def test_export_by_the_name_of_the_file(here: Path, name, made):
    run(INIT)
    said = run(f"export p --out {name}").output
    assert [line.removeprefix("wrote ") for line in said.splitlines()] == made
    assert all((here / each).stat().st_size > 100 for each in made)


def test_export_of_answers(here: Path):
    run(INIT)
    run("export p --format csv --table answers --out a.csv")
    assert (
        (here / "a.csv").read_text().startswith("participant,name,question_id,kind,items,answer,rt_ms,latency_ms,t_utc")
    )


def test_wrong_usage(here: Path):
    run(INIT)
    assert "the name 'c.xyz' tells no format; --format is one of onnx" in run("export p --out c.xyz", code=2).output
    assert "there is no format 'pkl'; --format is" in run("export p --format pkl --out c", code=2).output
    assert "--table is one of" in run("export p --out c.csv --table all", code=2).output
    assert "--format is one of tellmore" in run("import p items.csv --format excel", code=2).output


def test_score(here: Path, capsys):
    run(INIT)
    (here / "new.csv").write_text("id,text\nn1,x\nn2,y\n")
    np.savez(here / "new.npz", ids=["n2", "n1"], X=np.eye(4)[:2])
    assert run("score p new.csv --embeddings new.npz --out s.csv").output == "wrote s.csv: 2 items scored\n"
    assert (here / "s.csv").read_text().splitlines()[1].startswith("n1,")
    assert json.loads((here / "s.csv.provenance.json").read_text())["data_sha256"] == open_project("p").pool.fingerprint
    assert run("score p new.npz --out s.jsonl").exit_code == 0
    assert "a model named in a project is never loaded" in fails("score p new.csv --out t.csv", capsys)


def test_score_with_another_embedder_names_it_and_leaves_nothing(here: Path, capsys):
    run(INIT)
    (here / "three.py").write_text("import sys\nfor line in sys.stdin: print([1, 2, 3])\n")
    before = set(here.iterdir())
    embed = f"exec:{sys.executable} three.py"
    with pytest.raises(SystemExit):
        cli.main(["score", "p", "items.csv", "--embed", embed, "--out", "s.csv"])
    assert f"--embed {embed}: vectors of 3 dimensions, but the classifier takes 4" in capsys.readouterr().err
    assert set(here.iterdir()) == before


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (["--like", "zz", "--unlike", "zz"], "'zz' is named both as like and as unlike"),
        (["--like", "zz", "--scores-column", "label"], "not from both"),
        (["--like", " "], "an example is empty"),
    ],
)
def test_impossible_starts_are_refused_before_the_embedding(here: Path, capsys, start: list[str], said: str):
    (here / "slow.py").write_text("open('started', 'w').close()\n")
    before = set(here.iterdir())
    embed = ["--embed", f"exec:{sys.executable} slow.py"]
    with pytest.raises(SystemExit):
        cli.main(["init", "p", "--items", "items.csv", "--attribute", "calm", *start, *embed])
    assert said in capsys.readouterr().err
    assert set(here.iterdir()) == before


def test_words_and_scores_are_starts(here: Path, capsys):
    pytest.importorskip("sklearn")
    texts = ["kind staff", "rude staff", "kind room", "cold room", "rude cold", "kind kind"] * 4
    verdicts = ["yes", "no", "yes", "no", "no", "YES"] * 4
    rows = "".join(
        f"i{row},{text} {row},{said}\n" for row, (text, said) in enumerate(zip(texts, verdicts, strict=True))
    )
    (here / "notes.csv").write_text("id,text,llm\n" + rows)
    init = "init {} --items notes.csv --attribute kind --embed tfidf"
    run(init.format("words") + " --like kind --unlike rude,cold")
    run(init.format("scores") + " --scores-column llm")
    for name in ("words", "scores"):
        state = load_state(open_project(name))
        called = dict(zip(texts, state.learner.predict(), strict=True))
        assert (called["kind kind"], called["rude cold"]) == (True, False)
        assert state.learner.start_weight > 0.5
        run(f"export {name} --format npz --out {name}.npz")
        with np.load(here / f"{name}.npz") as arrays:
            assert len(arrays["weights"]) == len(arrays["means"]) == len(arrays["covs"]) > 1
            assert arrays["weights"].sum() == pytest.approx(1)
    assert open_project("words").settings.start.unlike == ("rude", "cold")
    assert not (here / "scores" / "words.npz").exists()
    assert "nothing is known of 'unheard'" in fails(init.format("p") + " --like unheard", capsys)
    said = fails(init.format("p") + " --scores-column llm --positive-value maybe", capsys)
    assert said.startswith("error: column llm: no score is 'maybe'")
    assert not (here / "p").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("status gone", "gone: no such project folder"),
        ("init p --items gone.csv --embeddings emb.npz --attribute a", "gone.csv: no such file"),
        ("annotate http://127.0.0.1:99999/?token=a", "is not a printed address; it looks like http://127.0.0.1:8000"),
        ("init p --items gone --embeddings emb.npz --attribute a", "gone: no such file"),
        ("init p --items items.csv --embeddings gone.npz --attribute a", "gone.npz: no such file"),
        ("init p --items items.csv --attribute a", "give the vectors either ready"),
        ("init p --items items.csv --embed word2vec:x --attribute a", "expected one of onnx:"),
        ("init /proc/p --items items.csv --embeddings emb.npz --attribute a", "a project cannot be made there"),
        ("init emb.npz --items items.csv --embeddings emb.npz --attribute a", "emb.npz already exists"),
    ],
)
def test_failures_are_one_line_and_leave_nothing(here: Path, capsys, command, said):
    before = set(here.iterdir())
    assert said in fails(command, capsys)
    assert set(here.iterdir()) == before


def test_faulty_rows_are_a_line_each_and_can_be_left_out(here: Path, capsys: pytest.CaptureFixture[str]):
    (here / "bad.csv").write_text("id,text\ni0,a\ni0,b\ni1,c,d\n,e\ni2,f\ni3,g\nunknown,h\n")
    with pytest.raises(SystemExit):
        cli.main(["init", "q", "--items", "bad.csv", "--embeddings", "emb.npz", "--attribute", "calm"])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("error: 3 faulty rows")
    assert len(said) == 4
    left = run("init q --items bad.csv --embeddings emb.npz --attribute calm --skip-bad left.txt").output
    assert "faulty rows left out, listed in left.txt" in left
    assert open_project("q").pool.ids == ("i0", "i2", "i3")
    listed = (here / "left.txt").read_text()
    assert "the item 'unknown' has no vector" in listed
    assert "the id 'i1' is not in bad.csv" in listed
    (here / "bad.csv").write_text("id,text\ni0,a\ni0,b\n")
    said = fails("init r --items bad.csv --embeddings emb.npz --attribute calm --skip-bad none.txt", capsys)
    assert "at least 2 items, not 1 (1 faulty row left out, listed in none.txt)" in said
    assert len((here / "none.txt").read_text().splitlines()) == 1


def test_one_item_makes_no_project(here: Path, capsys: pytest.CaptureFixture[str]):
    (here / "items.csv").write_text("id,text\ni0,kind staff\n")
    assert "at least 2 items, not 1" in fails("init p --items items.csv --embed tfidf --attribute calm", capsys)


def test_vectors_that_are_all_the_same_make_no_project(here: Path, capsys: pytest.CaptureFixture[str]):
    np.savez(here / "emb.npz", ids=[f"i{row}" for row in range(N)], X=np.zeros((N, 4)))
    assert "all items have the same vector" in fails(INIT, capsys)
    assert not (here / "p").exists()


def test_a_file_is_no_project(here: Path, capsys: pytest.CaptureFixture[str]):
    assert "tellmore init FOLDER --items items.csv" in fails("status items.csv", capsys)


def test_what_a_killed_process_left_is_cleared(here: Path):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (here / f".p-{int(ended.stdout)}-0123abcd").mkdir()
    (here / f".p-{os.getpid()}-0123abcd").mkdir()
    run(INIT)
    assert [path.name for path in here.glob(".p-*")] == [f".p-{os.getpid()}-0123abcd"]


def test_ctrl_c_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tellmore.data.project.open_project", interrupted)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["status", "p"])
    assert stopped.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == "error: interrupted by Ctrl-C"
