"""What happens to one answer before it leaves its owner: one mechanism per file.

``randomizer`` says what they have in common, and ``selection`` which of them is most accurate.

>>> from discreet.survey.randomizers import Response
>>> Response(categories=2, truth=0.5).law(1).probability(1)
Fraction(3, 4)
"""

from discreet.survey.randomizers.items import Items
from discreet.survey.randomizers.levels import Levels
from discreet.survey.randomizers.projective import Projective
from discreet.survey.randomizers.randomizer import GRID, Randomizer
from discreet.survey.randomizers.response import Response
from discreet.survey.randomizers.selection import Choice, best, best_any
from discreet.survey.randomizers.unary import Unary

__all__ = [
    "GRID",
    "Choice",
    "Items",
    "Levels",
    "Projective",
    "Randomizer",
    "Response",
    "Unary",
    "best",
    "best_any",
]
