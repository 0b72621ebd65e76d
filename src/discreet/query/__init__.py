"""Questions about tables as frozen values, and the plans that answer them: no data, no engine.

From the bottom up:

- `limits`: how large a question may be
- `schema`: the columns of a table, and their types
- `expressions`: what may be computed from one row, as typed trees
- `suggestions`: what other libraries call a step, and what it is called here
- `row`: the row proxy that a lambda gets
- `public`: public tables, and their digests
- `keys`: which groups an answer has
- `contribution`: how much one person can be in an answer
- `measures`: what an engine computes for each group, and how far one person moves it
- `request`: what a plan asks of an engine, and what comes back
- `purchase`: what an analyst spends, the parts of a plan, and the mechanisms bought for them
- `aggregates`: what can be asked of each group, one file per aggregate
- `table`: builds a question from a table, its steps, groups and aggregates
- `plan`: from a question and a spend to mechanisms
- `explain`: a plan in sentences
- `document`: a question as a document, and back, and in words
"""
