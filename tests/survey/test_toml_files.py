"""Questionnaires as TOML: the same value back, files beside it, and mistakes that teach."""

import tomllib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo

texts = (
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=12)
    .map(str.strip)
    .filter(bool)
)
promises = st.one_of(
    st.fractions(Fraction(1, 100), 8).map(lambda x: {"epsilon": x}),
    st.floats(0.01, 8).map(lambda x: {"epsilon": x}),
    st.fractions(Fraction(1, 50), Fraction(49, 50)).map(lambda x: {"truth": x}),
)
extras = st.fixed_dictionaries(
    {},
    optional={"prior": st.fractions(Fraction(1, 99), Fraction(98, 99)), "permanent": st.just(True)},
)
lists = st.lists(texts, min_size=2, max_size=13, unique=True)


@st.composite
def questions(draw, name):
    text, promise, more = f"{draw(texts)} {name}", draw(promises), draw(extras)
    kind = draw(st.sampled_from(["yes_no", "choose_one", "choose_any", "number"]))
    if kind == "yes_no":
        return YesNo(name, text, **promise, **more)
    if kind == "number":
        lower = draw(st.fractions(-1000, 1000))
        step = draw(st.fractions(Fraction(1, 1000), 10))
        steps = draw(st.integers(50, 500))
        unit = draw(st.just("") | texts)
        bounds, step = (lower, lower + step * steps), draw(st.sampled_from([step, None]))
        return Number(name, text, bounds=bounds, step=step, unit=unit, **promise, **more)
    if kind == "choose_one":
        options = draw(lists | st.integers(2, 10**6))
        return ChooseOne(name, text, options=options, mechanism="response", **promise, **more)
    epsilon = promise.get("epsilon", 1)
    return ChooseAny(name, text, options=draw(lists), epsilon=epsilon, mechanism="items", **more)


@st.composite
def forms(draw):
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True))
    return Questionnaire(
        draw(texts),
        [draw(questions(name)) for name in names],
        respondents=draw(st.none() | st.integers(1, 2**70)),
        waves=draw(st.integers(1, 20)),
        post=draw(st.sampled_from([None, "https://example.org/in?a=1"])),
    )


@settings(max_examples=60)
@given(forms())
def test_what_is_written_is_read_back(form):
    """Texts in every script, exact fractions, every field: the same value and the same digest.
    Catches a number that goes through a float, and a quote or backslash that is not escaped."""
    text = form.to_toml()
    again = Questionnaire.from_toml(text)
    assert again == form and again.digest == form.digest and again.to_toml() == text


def test_difficult_texts_are_read_back():
    """Quotes, backslashes, comment signs, brackets, combining and right-to-left characters."""
    options = [
        '"',
        "\\",
        "\\u0041",
        "'''",
        '"""',
        "# no comment",
        "[x]",
        "e\u0301",
        "\u05d0\u05d1",
        "\U0001f600",
    ]
    form = Questionnaire('say "hi" \\', [ChooseOne("a", "= ?", options=options, epsilon=1)])
    assert Questionnaire.from_toml(form.to_toml()) == form
    assert tomllib.loads(form.to_toml())["question"][0]["options"] == options


def test_numbers_are_what_was_typed():
    """0.1 is a tenth, "1/3" a third, and 1e-3 a thousandth. Catches a float in between."""
    form = Questionnaire.from_toml(
        'title = "T"\n[[question]]\nname = "a"\nkind = "yes_no"\ntext = "A?"\nepsilon = 0.1\n'
        'prior = "1/3"\n[[question]]\nname = "n"\nkind = "number"\ntext = "N?"\ntruth = 0.5\n'
        "bounds = [-1e-3, 2]\n"
    )
    assert (form["a"].epsilon, form["a"].prior) == (Fraction(1, 10), Fraction(1, 3))
    assert form["n"].bounds == (Fraction(-1, 1000), Fraction(2))


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "survey"
    (home / "lists").mkdir(parents=True)
    return home


def write(folder, options):
    path = folder / "form.toml"
    path.write_text(
        f'title = "T"\n[[question]]\nname = "town"\nkind = "choose_one"\ntext = "Where?"\n'
        f"epsilon = 1\n{options}\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_options_may_stand_in_a_file(folder, ends):
    """One a line, whatever ends it, with a byte order mark or without, last line ended or not."""
    lines = ["Åland", "Bern", "Ćuprija"]
    expected = Questionnaire("T", [ChooseOne("town", "Where?", options=lines, epsilon=1)])
    for content in (ends.join(lines), ends.join(lines) + ends, "\ufeff" + ends.join(lines)):
        (folder / "lists" / "towns.txt").write_bytes(content.encode())
        path = write(folder, 'options_file = "lists/towns.txt"')
        assert Questionnaire.from_toml(path) == Questionnaire.from_toml(str(path)) == expected


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ('options_file = "../secret.txt"', "in the questionnaire's folder"),
        ('options_file = "lists/../../secret.txt"', "in the questionnaire's folder"),
        ('options_file = "link.txt"', "in the questionnaire's folder"),
        ('options_file = "/etc/hostname"', "in the questionnaire's folder"),
        ('options_file = ""', "in the questionnaire's folder"),
        ("options_file = 7", "in the questionnaire's folder"),
        ('options_file = "none.txt"', "none.txt, which cannot be read"),
        ('options_file = "lists"', "lists, which cannot be read"),
        ('options_file = "bytes.txt"', "which is not"),
        ('options_file = "gap.txt"', "one line of text"),
        ('options = ["a", "b"]\noptions_file = "gap.txt"', "both options and options_file"),
    ],
)
def test_files_elsewhere_are_not_read(folder, options, says):
    """Outside the folder by dots, by a link or from the root; missing; not text. Catches a form
    from somebody else that shows a file of ours on a page."""
    (folder.parent / "secret.txt").write_text("a\nb\n")
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\n\x80")
    (folder / "gap.txt").write_text("a\n\nb\n")
    with pytest.raises(InvalidArgument, match=says):
        Questionnaire.from_toml(write(folder, options))


QUESTION = '[[question]]\nname = "a"\nkind = "yes_no"\ntext = "A?"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = ", "TOML, got text with a mistake"),
        ('title = "T"\ntitle = "U"\n', "TOML, got text with a mistake"),
        ("a = " + "[" * 10_000, "TOML, got text with a mistake"),
        ("waves = 2\n", "title must be there"),
        ('title = "T"\n', "question must be there"),
        ('title = "T"\nquestion = 3\n', r"\[\[question\]\]"),
        ('title = "T"\nquestions = []\n', "did you mean question?"),
        (f"title = 5\n{QUESTION}epsilon = 1\n", "title must be one line"),
        (f'title = "T"\n{QUESTION}', "epsilon or truth must be given"),
        (f'title = "T"\n{QUESTION}epsilon = nan\n', "finite"),
        (f'title = "T"\n{QUESTION}epsilon = 1979-05-27\n', "a number"),
        (f'title = "T"\n{QUESTION}epsilom = 1\n', "did you mean epsilon?"),
        (f'title = "T"\n{QUESTION}options = ["a", "b"]\nepsilon = 1\n', "a key of question 1"),
        ('title = "T"\n[[question]]\nkind = "yesno"\n', "did you mean yes_no?"),
        ('title = "T"\n[[question]]\nname = "a"\n', "kind of question 1 .a. must be one of"),
        ('title = "T"\n[[question]]\nkind = ["x"]\n', "kind of question 1 must be one of"),
        ('title = "T"\n[[question]]\nkind = "yes_no"\ntext = "A?"\nepsilon = 1\n', "name must"),
        (
            f'title = "T"\n{QUESTION}truth = 0.5\n'.replace("yes_no", "choose_any"),
            "a key of question 1",
        ),
        (
            f'title = "T"\n{QUESTION}epsilon = 1\n'.replace("yes_no", "choose_one"),
            "options must be there, in question 1",
        ),
        (f'title = "T"\nwaves = "two"\n{QUESTION}epsilon = 1\n', "waves must be a number"),
        (f'title = "T"\n{QUESTION}epsilon = 1\noptions_file = "x"\n', "a key of question 1"),
    ],
)
def test_mistakes_teach(text, says):
    """What is wrong, where, and what may have been meant."""
    with pytest.raises(InvalidArgument, match=says):
        Questionnaire.from_toml(text)


def test_a_refusal_says_in_which_question():
    """As a note. Catches "above 0" in a file of fifty questions."""
    with pytest.raises(InvalidArgument) as caught:
        Questionnaire.from_toml(f'title = "T"\n{QUESTION}epsilon = 0\n')
    assert caught.value.__notes__ == ["in question 1 (a)"]
    text = f'title = "T"\n{QUESTION}epsilon = 1\noptions_file = "x"\n'
    with pytest.raises(InvalidArgument) as caught:
        Questionnaire.from_toml(text.replace("yes_no", "choose_one"))
    assert caught.value.__notes__ == ["in question 1 (a)"]


def test_options_beside_a_text_are_refused():
    """A text has no folder. Catches a file that is looked for where the program was started."""
    text = 'title = "T"\n[[question]]\nname = "a"\nkind = "choose_one"\ntext = "A?"\nepsilon = 1\n'
    with pytest.raises(InvalidArgument, match="read from a file"):
        Questionnaire.from_toml(text + 'options_file = "towns.txt"\n')
    with pytest.raises(InvalidArgument, match=r"nowhere\.toml, which cannot be read"):
        Questionnaire.from_toml("nowhere.toml")
