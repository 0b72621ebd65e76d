"""Speed, as ratios against a reference timed in the same run."""
