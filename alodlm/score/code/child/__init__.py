"""What runs on the far side of the process boundary: standard library only, importable on its own.

This folder is all of the package that a sandbox can see. Nothing here knows an expected value of the `evalplus`
metric, and nothing that runs beside a generated program can write a verdict.
"""
