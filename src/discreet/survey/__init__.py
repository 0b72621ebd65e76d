"""Surveys that people can answer safely: each answer is randomized before it leaves its owner.

>>> from discreet import survey
>>> form = survey.Questionnaire("Health", [survey.YesNo("smoker", "Do you smoke?", truth=0.5)])
>>> report = form.respond({"smoker": True})              # randomized here, on this machine
>>> sorted(report.document())
['id', 'smoker', 'survey', 'wave']

From the bottom up:

- ``cells``, ``chances``: columns of reports as numbers, and chances as people say them
- ``randomizers``: what happens to one answer before it leaves its owner
- ``estimates``: from counts of reports to shares, means and cross tables
- ``questions``: what can be asked
- ``questionnaire``: what is asked and what it costs, as a value and as a TOML file
- ``reports``: what respondents send, as values and as files
- ``respondent``: from answers to reports, and what is remembered between waves
- ``card``, ``page``: what a respondent reads before answering, and the page that asks
- ``readers``, ``collector``: reports from files and tables, which of them count, and their result
- ``sample_size``: how many respondents are needed
- ``shuffle``: what shuffled reports promise
"""

from typing import TYPE_CHECKING

from discreet.lazy import on_first_use

if TYPE_CHECKING:
    from discreet.survey.collector import Collector as Collector
    from discreet.survey.collector import collect as collect
    from discreet.survey.page import write_page as write_page
    from discreet.survey.questionnaire import Questionnaire as Questionnaire
    from discreet.survey.questions import ChooseAny as ChooseAny
    from discreet.survey.questions import ChooseOne as ChooseOne
    from discreet.survey.questions import Number as Number
    from discreet.survey.questions import YesNo as YesNo
    from discreet.survey.respondent import Memory as Memory
    from discreet.survey.sample_size import plan as plan
    from discreet.survey.shuffle import Shuffled as Shuffled

_HOMES = {
    "collector": "Collector collect",
    "page": "write_page",
    "questionnaire": "Questionnaire",
    "questions": "ChooseAny ChooseOne Number YesNo",
    "respondent": "Memory",
    "sample_size": "plan",
    "shuffle": "Shuffled",
}
__all__, __getattr__, __dir__ = on_first_use(__name__, _HOMES)
