"""The memory: the same report again, permanent answers kept, nothing true on disk, no damage
taken for a beginning."""

import json
import os
import stat
import subprocess
import sys

import pytest

from discreet.errors import InvalidArgument, Refused
from discreet.survey import ChooseAny, ChooseOne, Memory, Questionnaire, YesNo
from discreet.survey.questionnaire import question_digest
from discreet.testing import seeded

LAW = {"options": 1000, "epsilon": 1, "permanent": True}
KEPT = ChooseOne("kept", "Which?", **LAW)
FREE = ChooseAny("free", "Which?", options=[f"canary{i}" for i in range(16)], epsilon=1)
FORM = Questionnaire("Waves", [KEPT, FREE], waves=30)
ANSWERS = {"kept": 777, "free": ["canary3"]}


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path / "answers.json")


def test_a_permanent_answer_is_drawn_once(memory):
    """30 waves: one code of more than 1,000 in all of them, while the other answer and the number
    of the report change. With a changed true answer too. Catches a draw that is not kept."""
    reports = [FORM.respond(ANSWERS, memory=memory, wave=wave) for wave in range(1, 16)]
    changed = {"kept": 3, "free": []}
    reports += [FORM.respond(changed, memory=memory, wave=wave) for wave in range(16, 31)]
    assert len({report.answers["kept"] for report in reports}) == 1
    assert len({report.answers["free"] for report in reports}) > 5
    assert len({report.id for report in reports}) == 30
    assert [report.wave for report in reports] == list(range(1, 31))


def test_a_wave_asked_again_sends_the_same_report(memory):
    """Whatever is answered then, in a new process or not. Catches retries that average out."""
    first = FORM.respond(ANSWERS, memory=memory, wave=2)
    for answers in (ANSWERS, {"kept": 1, "free": []}):
        assert FORM.respond(answers, memory=Memory(str(memory.path)), wave=2) == first
    with pytest.raises(InvalidArgument, match="kept must be one of the options"):
        FORM.respond(ANSWERS | {"kept": "x"}, memory=memory, wave=2)  # still checked


def test_nothing_true_is_kept(memory):
    """The file has the report and no more: with the true answers exchanged and the same chance it
    is the same file but for what chance made of them; and no text of an option is in it."""
    with seeded(3):
        FORM.respond(ANSWERS, memory=memory)
    kept = json.loads(memory.path.read_text())
    (waves,) = kept["surveys"].values()
    assert set(kept) == {"format", "permanent", "surveys"} and set(waves) == {"1"}
    assert set(waves["1"]) == {"id", "answers"}
    assert kept["permanent"] == {question_digest(KEPT): waves["1"]["answers"]["kept"]}
    assert "canary" not in memory.path.read_text()
    assert sorted(path.name for path in memory.path.parent.iterdir()) == [
        "answers.json",
        "answers.json.lock",
    ]


def test_only_the_owner_may_read_it(memory):
    """Mode 0600, whatever the umask says. Catches a file that a neighbour can read."""
    before = os.umask(0)
    try:
        FORM.respond(ANSWERS, memory=memory)
    finally:
        os.umask(before)
    for path in memory.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_form_that_is_issued_again_draws_no_permanent_answer_again(memory):
    """40 forms with other titles, waves, names, priors and questions beside it: one code of more
    than 1,000 in all of them. Catches a memory of the form: whoever re-issues it would average the
    permanent answer away."""
    first = FORM.respond(ANSWERS, memory=memory)
    for issue in range(40):
        others = [YesNo(f"other{issue}", "And?", epsilon=1)] * (issue % 2)
        name = f"kept{issue}" if issue % 5 else "kept"  # a column's head, which nobody sees
        kept = ChooseOne(name, "Which?", **LAW, prior=0.1 if issue % 3 else None)
        form = Questionnaire(f"Issue {issue}", [*others, kept], waves=1 + issue % 4)
        answers = {name: issue, **{other.name: True for other in others}}
        report = form.respond(answers, memory=memory)
        assert report.survey == form.digest and report.answers[name] == first.answers["kept"]


def test_another_question_is_another_draw(memory):
    """Other words, options, ε or mechanism: as the card says, it is drawn anew. And a
    question that is not permanent does not take the permanent answer. 1,000 options, seeded.
    Catches an answer of one law that is sent under another, which would bias the estimates."""
    with seeded(12):
        first = FORM.respond(ANSWERS, memory=memory).answers["kept"]
        others = [
            ChooseOne("kept", "Which one?", **LAW),
            ChooseOne("kept", "Which?", **LAW | {"epsilon": 2}),
            ChooseOne("kept", "Which?", **LAW, mechanism="response"),
            ChooseOne("kept", "Which?", **LAW | {"options": 1001}),
            ChooseOne("kept", "Which?", **LAW | {"permanent": False}),
        ]
        for place, other in enumerate(others):
            form = Questionnaire("Again", [other])
            assert form.respond({other.name: 777}, memory=memory).answers[other.name] != first
            kept = json.loads(memory.path.read_text())["permanent"]
            assert len(kept) == min(place + 2, 5)


def test_one_file_serves_many_questionnaires(memory):
    """Each by its digest. Catches an answer to one that is sent for another."""
    other = Questionnaire("Other", [KEPT], waves=2)
    one = FORM.respond(ANSWERS, memory=memory)
    two = other.respond({"kept": 777}, memory=memory)
    assert (one.survey, two.survey) == (FORM.digest, other.digest)
    assert FORM.respond(ANSWERS, memory=memory) == one
    assert other.respond({"kept": 1}, memory=memory) == two


def document(permanent, waves, version=2):
    made = {"format": f"discreet survey memory {version}", "permanent": permanent}
    return json.dumps(made | {"surveys": {FORM.digest: waves}})


def sent(**changes):
    return {"id": "0" * 32, "answers": {"kept": 1, "free": "-" * 16}} | changes


DIGEST = question_digest(KEPT)
DAMAGED = {
    "empty": "",
    "half": '{"format": "discreet survey memory 2", "surv',
    "bytes": "\ufffd\x00",
    "list": "[]",
    "other format": '{"format": "x", "permanent": {}, "surveys": {}}',
    "no surveys": '{"format": "discreet survey memory 2", "permanent": {}}',
    "no permanent": '{"format": "discreet survey memory 2", "surveys": {}}',
    "surveys": '{"format": "discreet survey memory 2", "permanent": {}, "surveys": []}',
    "deep": "[" * 100_000,
    "waves": document({}, []),
    "forgotten permanent": document({}, {"2": sent()}),
    "permanent of another": document({"0" * 32: 1}, {"1": sent()}),
    "another permanent": document({DIGEST: 2}, {"2": sent()}),
    "permanent out of range": document({DIGEST: 10**9}, {}),
    "permanent of a type": document({DIGEST: True}, {}),
    "wave": document({DIGEST: 1}, {"1": 7}),
    "another wave": document({DIGEST: 1}, {"2": 7}),
    "answers": document({DIGEST: 1}, {"1": sent(answers={})}),
    "signs": document({DIGEST: 1}, {"1": sent(answers={"kept": 1, "free": "2" * 16})}),
    "id": document({DIGEST: 1}, {"1": sent(id="x")}),
}


def test_what_is_not_damaged_is_read(memory):
    """The same document with nothing wrong. Catches a test below that would refuse anything."""
    memory.path.write_text(document({DIGEST: 1, "0" * 32: 5}, {"2": sent()}))
    assert FORM.respond(ANSWERS, memory=memory).answers["kept"] == 1
    assert FORM.respond(ANSWERS, memory=memory, wave=2).id == "0" * 32
    kept = json.loads(memory.path.read_text())
    assert kept["permanent"] == {DIGEST: 1, "0" * 32: 5}
    assert set(kept["surveys"][FORM.digest]) == {"1", "2"}


@pytest.mark.parametrize("version", [1, 3])
def test_another_format_is_no_damage(memory, version):
    """It says which discreet to use, and leaves the file alone. Catches a new beginning."""
    memory.path.write_text(document({}, {}, version))
    with pytest.raises(Refused, match="another version of discreet"):
        FORM.respond(ANSWERS, memory=memory)
    assert memory.path.read_text() == document({}, {}, version)


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damage_is_refused_and_left_alone(memory, content):
    """Attack D5: a damaged file is not a new beginning. It is refused with a sentence, and stays as
    it is. Catches a permanent answer that is drawn again."""
    memory.path.write_text(content)
    with pytest.raises(Refused, match="Restore it from a backup"):
        FORM.respond(ANSWERS, memory=memory)
    assert memory.path.read_text() == content


def test_a_write_that_fails_leaves_the_old_file(memory, monkeypatch):
    """And no report leaves, since the next one would not know of it. Catches a report that was
    sent and forgotten."""
    first = FORM.respond(ANSWERS, memory=memory, wave=1)
    content = memory.path.read_bytes()

    def full(descriptor):
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidArgument, match=r"\(no space left\).*nothing was sent"):
        FORM.respond(ANSWERS, memory=memory, wave=2)
    monkeypatch.undo()
    assert memory.path.read_bytes() == content
    assert len(list(memory.path.parent.iterdir())) == 2
    second = FORM.respond(ANSWERS, memory=memory, wave=2)
    assert second.answers["kept"] == first.answers["kept"]


def test_two_processes_at_once_send_one_report(memory):
    """Four children answer the same wave and different waves, from different truths: one report a
    wave, one permanent answer. Catches a check and a write that somebody comes between."""
    children = []
    for child in range(4):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:  # pragma: no cover
            try:
                told = [
                    FORM.respond({"kept": child, "free": []}, memory=memory, wave=wave).document()
                    for wave in (1, 2 + child, 6)
                ]
                os.write(writing, json.dumps(told).encode())
            finally:
                os._exit(0)
        os.close(writing)
        children.append((pid, reading))
    told = []
    for pid, reading in children:
        with open(reading) as pipe:
            told.append(json.loads(pipe.read()))
        os.waitpid(pid, 0)
    reports = [report for each in told for report in each]
    assert len(reports) == 12
    for wave in range(1, 7):
        assert len({json.dumps(report) for report in reports if report["wave"] == wave}) == 1
    assert len({report["kept"] for report in reports}) == 1


def test_a_memory_is_not_needed_once_but_may_be_used(memory):
    """One wave: asking again sends the same. Catches a memory that only knows waves."""
    form = Questionnaire("Once", [YesNo("a", "A?", epsilon=1)])
    first = form.respond({"a": True}, memory=memory)
    assert all(form.respond({"a": False}, memory=memory) == first for _ in range(5))
    assert repr(memory) == f"Memory({str(memory.path)!r})"
    for path in ("", None, 7):
        with pytest.raises(InvalidArgument, match="where the file is"):
            Memory(path)


def test_a_link_leads_to_one_memory(tmp_path, monkeypatch):
    """Through a link, from another folder, by a relative path: the same file, the same lock, one
    report. Catches a link that is replaced by a file, and so a second memory."""
    (tmp_path / "home").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "home" / "answers.json")
    monkeypatch.chdir(tmp_path / "home")
    memories = [Memory("answers.json"), Memory(tmp_path / "link.json")]
    monkeypatch.chdir(tmp_path)
    first, again = (FORM.respond(ANSWERS, memory=memory) for memory in memories)
    assert first == again and (tmp_path / "link.json").is_symlink()
    assert sorted(each.name for each in tmp_path.rglob("*.*")) == [
        *("answers.json", "answers.json.lock", "link.json"),
    ]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(InvalidArgument, match="a path that leads to a file"):
        Memory(tmp_path / "round")


def test_planted_files_are_not_written_through(memory, tmp_path, monkeypatch):
    """Where a neighbour put links to a file of ours in the places that are written; what a stopped
    process left is no hurdle. Catches a file that is emptied, and a report that goes elsewhere."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    unfinished = memory.path.with_name(".answers.json.part")
    unfinished.symlink_to(precious)
    report = FORM.respond(ANSWERS, memory=memory)
    assert FORM.respond(ANSWERS, memory=memory) == report
    unfinished.write_text("half of it")
    FORM.respond(ANSWERS, memory=memory, wave=2)
    assert not unfinished.exists()
    with monkeypatch.context() as patch:
        patch.setattr(type(unfinished), "unlink", lambda self, missing_ok: None)
        unfinished.symlink_to(precious)  # again, right before it is opened
        with pytest.raises(InvalidArgument, match="nothing was sent"):
            FORM.respond(ANSWERS, memory=memory, wave=3)
    lock = memory.path.with_name("answers.json.lock")
    lock.unlink()
    lock.symlink_to(precious)
    with pytest.raises(InvalidArgument, match="memory must be a file that can be"):
        FORM.respond(ANSWERS, memory=memory, wave=3)
    assert precious.read_text() == "precious"


def test_what_the_system_refuses_is_told(tmp_path, monkeypatch):
    """A folder for a file, a folder that is not there, a file nobody may read: each in a sentence.
    And a system without locks. Catches a traceback instead of what to do."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(InvalidArgument, match=r"folder, which cannot be \(Is a directory\)"):
        FORM.respond(ANSWERS, memory=Memory(folder))
    with pytest.raises(InvalidArgument, match="choose a file in a folder that is there"):
        FORM.respond(ANSWERS, memory=Memory(tmp_path / "none" / "a.json"))

    def denied(path):
        raise PermissionError(13, "Permission denied")

    memory = Memory(tmp_path / "a.json")
    with monkeypatch.context() as patch:
        patch.setattr(type(memory.path), "read_bytes", denied)
        with pytest.raises(InvalidArgument, match=r"a\.json, which cannot be \(Permission denied"):
            FORM.respond(ANSWERS, memory=memory)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fcntl", None)
        with pytest.raises(Refused, match=r"a system with file locks.*Answer in a browser"):
            FORM.respond(ANSWERS, memory=memory)
    assert FORM.respond(ANSWERS, memory=memory)


def test_without_locks_everything_else_is_there():
    """On a system without fcntl the module is still imported, and one wave needs no memory.
    Catches an import that shuts a whole system out."""
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "from discreet.survey import Memory, Questionnaire, YesNo\n"
        "form = Questionnaire('T', [YesNo('a', 'A?', epsilon=1)])\n"
        "print(Memory('a.json'), form.respond({'a': True}).wave)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stdout.endswith("a.json') 1\n"), run.stderr
