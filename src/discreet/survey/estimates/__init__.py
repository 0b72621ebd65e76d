"""From counts of reports to shares, means and cross tables, with their uncertainty.

From the bottom up:

- ``tally``: counts of the reports to a question, and to a pair of questions
- ``confidence``: intervals of shares, by scores and by exact tails
- ``text``, ``plot``: how estimates look in a terminal and as a chart
- ``estimate``: what those of one question have in common
- ``shares``, ``means``, ``cross_table``: the three kinds of estimates
- ``survey_result``: all of them together
"""
