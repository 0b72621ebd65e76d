"""The memory: the same report again, permanent answers kept, nothing true on disk, no damage
taken for a beginning."""

import json
import os
import stat

import pytest

from discreet.errors import InvalidArgument, Refused
from discreet.survey import ChooseAny, ChooseOne, Memory, Questionnaire, YesNo
from discreet.testing import seeded

KEPT = ChooseOne("kept", "Which?", options=1000, epsilon=1, permanent=True)
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
    (fields,) = kept["surveys"].values()
    assert set(kept) == {"format", "surveys"} and set(fields) == {"permanent", "waves"}
    assert set(fields["waves"]["1"]) == {"id", "answers"}
    assert fields["permanent"] == {"kept": fields["waves"]["1"]["answers"]["kept"]}
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


def test_one_file_serves_many_questionnaires(memory):
    """Each by its digest. Catches an answer to one that is sent for another."""
    other = Questionnaire("Other", [KEPT], waves=2)
    one = FORM.respond(ANSWERS, memory=memory)
    two = other.respond({"kept": 777}, memory=memory)
    assert (one.survey, two.survey) == (FORM.digest, other.digest)
    assert FORM.respond(ANSWERS, memory=memory) == one
    assert other.respond({"kept": 1}, memory=memory) == two


def damage(fields):
    return json.dumps({"format": "discreet survey memory 1", "surveys": {FORM.digest: fields}})


DAMAGED = {
    "empty": "",
    "half": '{"format": "discreet survey memory 1", "surv',
    "bytes": "\ufffd\x00",
    "list": "[]",
    "other format": '{"format": "x", "surveys": {}}',
    "no surveys": '{"format": "discreet survey memory 1"}',
    "surveys": '{"format": "discreet survey memory 1", "surveys": []}',
    "deep": "[" * 100_000,
    "forgotten permanent": damage(
        {
            "permanent": {},
            "waves": {"2": {"id": "0" * 32, "answers": {"kept": 1, "free": "-" * 16}}},
        }
    ),
    "no waves": damage({"permanent": {}}),
    "permanent of another": damage({"permanent": {"other": 1}, "waves": {}}),
    "permanent out of range": damage({"permanent": {"kept": 10**9}, "waves": {}}),
    "permanent of a type": damage({"permanent": {"kept": True}, "waves": {}}),
    "wave": damage({"permanent": {}, "waves": {"1": 7}}),
    "answers": damage({"permanent": {}, "waves": {"1": {"id": "0" * 32, "answers": {}}}}),
    "signs": damage(
        {
            "permanent": {},
            "waves": {"1": {"id": "0" * 32, "answers": {"kept": 1, "free": "2" * 16}}},
        }
    ),
    "id": damage(
        {"permanent": {}, "waves": {"1": {"id": "x", "answers": {"kept": 1, "free": "-" * 16}}}}
    ),
}


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
    with pytest.raises(OSError, match="no space"):
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
    with pytest.raises(InvalidArgument, match="a folder that is there"):
        form.respond({"a": True}, memory=Memory(memory.path.parent / "none" / "a.json"))
    for path in ("", None, 7):
        with pytest.raises(InvalidArgument, match="where the file is"):
            Memory(path)
