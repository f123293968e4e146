"""What the numbers say: statistics and summaries."""
