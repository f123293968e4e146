"""Scoring of generated programs. They are hostile until proven otherwise."""
