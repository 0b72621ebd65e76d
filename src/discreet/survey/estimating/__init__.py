"""From counts of reports to shares, means and cross tables, with their uncertainty."""
