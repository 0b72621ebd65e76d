"""From files and tables to columns of reports that can be counted, and those set aside."""
