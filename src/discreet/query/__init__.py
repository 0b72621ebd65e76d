"""Questions about tables as frozen values, and the plans that answer them: no data, no engine."""
