"""Ways to get an answer, behind one protocol."""
