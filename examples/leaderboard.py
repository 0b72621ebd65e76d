"""A leaderboard that cannot be overfitted, and one that can.

A competition: guess hidden labels, see the board, submit again. An attacker knows nothing about the
labels. They submit random guesses, keep those that the board likes, turn the others around, and
let all of them vote (Blum and Hardt 2015 call it boosting). On a board that shows exact scores the
vote climbs and climbs, though on labels drawn anew it is right half of the time. The same attack
is then made on `dp.adaptive.Ladder`. In the end somebody comes who can really predict, and both
boards have to say so.

    python examples/leaderboard.py
    python examples/leaderboard.py --submissions 5000 --labels 10000

A Ladder keeps scores true; it protects nobody's label. Where labels are private, use
`dp.adaptive.Thresholdout` or `dp.adaptive.Analyst`, which add noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import discreet as dp
from discreet.plot import Plot, dressed

VOTES = 20  # how often the attacker lets the guesses vote


class Naive:
    """Shows the best exact score so far, and that of each submission, as most boards do."""

    def __init__(self, labels: np.ndarray) -> None:
        self.labels, self.best = labels, 0.0

    def submit(self, guess: np.ndarray) -> tuple[float, bool]:
        """The score on the board, and whether this submission looks better than chance."""
        score = float(np.mean(guess == self.labels))
        self.best = max(self.best, score)
        return self.best, score > 0.5


class Fair:
    """Shows the rung that the best submission so far has reached, and nothing of the others."""

    def __init__(self, labels: np.ndarray, submissions: int) -> None:
        rungs = {"baseline": "0.4", "step": "0.05"}
        self.ladder = dp.adaptive.Ladder(labels, submissions=submissions, **rungs)

    def submit(self, guess: np.ndarray) -> tuple[float, bool]:
        """The score on the board, and whether it rose: there is nothing else to go by."""
        standing = self.ladder.submit(guess)
        return standing.value, standing.improved


def attack(board: Naive | Fair, guesses: np.ndarray, fresh: np.ndarray) -> list[dict[str, Any]]:
    """Submit guesses and votes; returns what the board shows, and the truth about each vote."""
    turned, told = [], []
    when = set(np.linspace(0, len(guesses), VOTES + 1)[1:].astype(int).tolist())
    for number, guess in enumerate(guesses, start=1):
        _, liked = board.submit(guess)
        turned.append(guess if liked else 1 - guess)
        if number in when:
            vote = (2 * np.sum(turned, axis=0) > number).astype(np.int8)
            shown, _ = board.submit(vote)
            truth = float(np.mean(vote == fresh))
            told.append({"submissions": number, "shown": shown, "truth": truth})
    return told


def percent(share: float) -> str:
    """A share in words."""
    return f"{100 * share:.1f} %"


def draw(told: dict[str, list[dict[str, Any]]], error: float) -> Plot:
    """What both boards show after each vote, and how good the naive board's leader really is."""
    lines = {"exact scores": "#c8452f", "Ladder": "#1f5fa8", "truth": "#8a8f98"}
    rows = [
        {"submissions": row["submissions"], "score": row["shown"], "board": board}
        for board, votes in told.items()
        for row in votes
    ]
    rows += [
        {"submissions": row["submissions"], "score": row["truth"], "board": "truth"}
        for row in told["exact scores"]
    ]
    colors = alt.Scale(domain=list(lines), range=list(lines.values()))
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            alt.X("submissions:Q", title="submissions"),
            alt.Y("score:Q", title="best score").scale(domain=[0.4, 0.8]).axis(format="%"),
            alt.Color("board:N", title=None, scale=colors),
        )
        .properties(width=440, height=260)
    )
    below = (
        f"Truth: votes on labels drawn anew. The Ladder states ± {100 * error:.0f} points (95 %)"
    )
    return Plot(dressed(chart, "Random guesses that vote climb a naive board", below))


def main(
    submissions: int = 1_000, labels: int = 2_000, picture: str = "leaderboard.svg"
) -> dict[str, Any]:
    """Attack both boards, then submit something honest; returns what they showed."""
    coins = np.random.default_rng(2015)
    hidden, fresh = coins.integers(0, 2, (2, labels), dtype=np.int8)
    guesses = coins.integers(0, 2, (submissions, labels), dtype=np.int8)
    boards = {
        "exact scores": Naive(hidden),
        "Ladder": Fair(hidden, submissions=submissions + VOTES + 1),
    }
    print(f"{boards['Ladder'].ladder.explain()}\n")
    told = {name: attack(board, guesses, fresh) for name, board in boards.items()}
    for name, votes in told.items():
        last = votes[-1]
        print(f"{name}: {submissions:,} random guesses have reached {percent(last['shown'])}.")
        print(
            f"  On labels drawn anew the last vote is right {percent(last['truth'])} of the time."
        )

    honest = np.where(coins.random(labels) < 0.8, hidden, 1 - hidden)  # right 80 % of the time
    shown, _ = boards["exact scores"].submit(honest)
    standing = boards["Ladder"].ladder.submit(honest)
    low, high = map(percent, standing.interval)
    print("\nThen somebody submits predictions that are right 80 % of the time.")
    print(f"exact scores: {percent(shown)}.")
    print(f"Ladder: {percent(standing.value)}, and the true score is between {low} and {high}.")
    draw(told, boards["Ladder"].ladder.error).save(picture)
    print(f"The picture is in {Path(picture).name}.")
    return {**told, "honest": standing, "error": boards["Ladder"].ladder.error}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=1_000, help="random guesses (1,000)")
    parser.add_argument("--labels", type=int, default=2_000, help="hidden labels (2,000)")
    parser.add_argument("--picture", default="leaderboard.svg", help="where the picture goes")
    given = parser.parse_args()
    if min(given.submissions, given.labels) < 1:
        parser.error("--submissions and --labels must be 1 or above")
    main(**vars(given))
