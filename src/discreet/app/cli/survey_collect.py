"""What reports say: estimates, what was set aside, and the guarantee of shuffled reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from discreet.app.cli.dialect import called
from discreet.app.cli.outputs import check_places
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.survey.estimates.survey_result import SurveyResult

_PICTURES = (".svg", ".png", ".html")
_TABLES = (".csv", ".parquet")
_HINTS = {
    "other survey": "reports of another survey have answered another questionnaire, or this one "
    "before its title, waves, a question or an ε was changed: collect those with the file of that "
    "time",
    "other wave": "reports of another wave are collected with its number: --wave N",
}
_NO_GAIN = 0.99  # of the local ε: what shuffling takes off is then nothing to speak of


@dataclass(frozen=True)
class Estimating:
    """What is estimated, how surely, and about whom."""

    cross: Annotated[
        list[str] | None,
        Option(help="Cross these two questions. Repeat for more tables.", metavar="NAME,NAME"),
    ] = None
    confidence: Annotated[
        str,
        Option(help="How sure each interval is to hold the truth.", metavar="SHARE"),
    ] = "0.95"
    about: Annotated[
        str,
        Option(
            help="Intervals about the population that respondents are a random sample of, or "
            "about these respondents themselves.",
            metavar="population|respondents",
        ),
    ] = "population"
    shuffled: Annotated[
        bool,
        Option(
            "--shuffled",
            help="Say what is promised where these reports were shuffled by somebody trusted, and "
            "ids and times removed; needs --delta.",
        ),
    ] = False
    delta: Annotated[
        str | None,
        Option(help="With --shuffled: the δ of that promise.", metavar="NUMBER"),
    ] = None

    def check(self) -> None:
        """Before any report is read."""
        if self.shuffled != (self.delta is not None):
            raise InvalidArgument(
                name="--shuffled and --delta",
                expected="given together",
                given="one of them",
                hint="as in --shuffled --delta 1e-6",
            )

    def result(self, form: Any, reports: list[Path], wave: int | None) -> SurveyResult:
        """The estimates."""
        from discreet.survey import collect

        pairs = [_pair(names) for names in self.cross or ()]
        about: Any = self.about
        with called("REPORTS", "source"), called("each NAME in --cross", "name"):
            return collect(
                form, *reports, cross=pairs, wave=wave, confidence=self.confidence, about=about
            )

    def central(self, form: Any, result: SurveyResult) -> dict[str, Any] | None:
        """The promise against whoever sees the shuffled reports of this wave alone."""
        if self.delta is None or not result.respondents:
            return None
        from discreet.guarantees import compose
        from discreet.numeric.exact import probability
        from discreet.survey import Shuffled

        delta = probability(self.delta, name="delta")
        once = compose([question.randomizer.guarantee for question in form.questions])
        central = Shuffled(once, respondents=result.respondents)
        return {
            "epsilon": central.epsilon(delta),
            "delta": delta,
            "local_epsilon": central.local,
            "respondents": central.respondents,
            "waves": form.waves,
        }


@dataclass(frozen=True)
class Shown:
    """What is written beside what is printed."""

    projected: Annotated[
        bool,
        Option(
            "--projected",
            help="Also the nearest proper shares, none negative: biased, without intervals.",
        ),
    ] = False
    plot: Annotated[
        Path | None,
        Option(help="Draw the estimates: .svg, .png or .html.", metavar="FILE"),
    ] = None
    out: Annotated[
        Path | None,
        Option(help="Write the estimates to this file, .csv or .parquet.", metavar="FILE"),
    ] = None
    force: Annotated[bool, Option("--force", help="Write over files that are there.")] = False

    def check(self, *, kept: list[str]) -> None:
        """The files can be written."""
        places = {"--plot": self.plot, "--out": self.out}
        check_places(places, kept=kept, new=not self.force)
        for (option, path), endings in zip(places.items(), (_PICTURES, _TABLES), strict=True):
            if path is not None and path.suffix.lower() not in endings:
                raise InvalidArgument(
                    name=option,
                    expected=f"a name that ends in {' or '.join(endings)}",
                    given=InvalidArgument.describe_parameter(str(path)),
                )

    def write(self, result: SurveyResult) -> None:
        """The picture and the table."""
        if self.plot is not None:
            result.plot().save(self.plot)
        if self.out is not None and self.out.suffix.lower() == ".csv":
            from discreet.release.exports import to_csv

            to_csv(result.to_arrow(), self.out)
        elif self.out is not None:
            import pyarrow.parquet as pq

            pq.write_table(result.to_arrow(), self.out)


def found_lines(
    result: SurveyResult, central: dict[str, Any] | None, shown: Shown
) -> Iterator[str]:
    """Everything, for people; nothing but the reason where there is nothing to estimate from."""
    if not result.respondents:
        yield from _nothing(result)
        return
    yield from str(result).splitlines()
    yield from _hints(result)
    for table in result.tables.values():
        yield ""
        yield from str(table).splitlines()
    if shown.projected:
        yield ""
        yield "post-processed to proper shares: biased, and without intervals"
        for name, shares in _projected(result).items():
            largest = sorted(shares.items(), key=lambda one: -one[1])[:20]
            yield f"  {name}: " + ", ".join(f"{label} {100 * x:.1f} %" for label, x in largest)
    if central is not None:
        yield ""
        yield from _promise(central)


def _nothing(result: SurveyResult) -> Iterator[str]:
    aside = ", ".join(f"{count:,} {reason}" for reason, count in result.set_aside.items())
    yield f"{result.title}: no report could be counted"
    if aside:
        yield f"set aside: {aside}"
    yield from (f"note: {sentence}" for sentence in result.notes)
    yield from _hints(result)


def _hints(result: SurveyResult) -> list[str]:
    """What may be done about reports that were set aside."""
    return [f"note: {hint}" for reason, hint in _HINTS.items() if reason in result.set_aside]


def _promise(central: dict[str, Any]) -> Iterator[str]:
    seen = (
        f"against all who see these {central['respondents']:,} reports only after somebody "
        "trusted removed ids and times and shuffled them"
    )
    local = f"ε = {central['local_epsilon']:.4g}"
    if central["epsilon"] > _NO_GAIN * central["local_epsilon"]:
        yield f"shuffled: no better than {local}, {seen}: ε is too large, or there are too few"
        return
    yield (
        f"shuffled: (ε, δ) = ({central['epsilon']:.4g}, {float(central['delta']):g}) for each "
        f"respondent, {seen}; {local} against everybody else"
    )
    yield "  it hides what somebody answered, not that they did, and counts on honest respondents"
    if central["waves"] > 1:
        yield "  it is about this wave; whoever sees several is held by the local promise alone"


def found_document(
    result: SurveyResult, central: dict[str, Any] | None, shown: Shown
) -> dict[str, Any]:
    """The same as a document."""
    return {
        "title": result.title,
        "respondents": result.respondents,
        "set_aside": dict(result.set_aside),
        "confidence": result.confidence,
        "about": result.about,
        "estimates": result.to_arrow().to_pylist(),
        "cross": {
            ",".join(names): table.to_arrow().to_pylist() for names, table in result.tables.items()
        },
        **({"projected": _projected(result)} if shown.projected else {}),
        "promised": result.cost,
        "shuffled": central,
        "notes": [*result.notes, *(h.removeprefix("note: ") for h in _hints(result))],
        "plot": shown.plot and str(shown.plot),
        "file": shown.out and str(shown.out),
    }


def _projected(result: SurveyResult) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(nearest.labels, nearest.values.tolist(), strict=True))
        for name, nearest in (
            (name, estimate.projected())
            for name, estimate in result.estimates.items()
            if hasattr(estimate, "projected")
        )
    }


def _pair(names: str) -> tuple[str, str]:
    first, comma, second = names.partition(",")
    pair = first.strip(), second.strip()
    if not comma or not all(pair) or len(set(pair)) < 2:
        raise InvalidArgument(
            name="--cross",
            expected="the names of two different questions, as in smoker,town",
            given=InvalidArgument.describe_parameter(names),
        )
    return pair
