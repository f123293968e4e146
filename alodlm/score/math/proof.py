"""Dear proofs that two expressions are equal, for what numbers did not refute.

Algebraic constants are proved by a root separation bound; everything else by sympy, on trees built here node by
node: no text ever reaches sympy's own parser, which evaluates Python.
"""

from __future__ import annotations

from alodlm.score.math.parser import Tree


def proved_equal(left: Tree, right: Tree) -> bool:
    """Say whether the equality of two expressions can be proved."""
    from alodlm.score.math import separation, symbolic

    decided = separation.decides_equal(left, right)
    return symbolic.proves_equal(left, right) if decided is None else decided
