"""Which statements of an answer's program run: definitions and what they need, not its demonstrations."""

from __future__ import annotations

import ast

from alodlm.score.code.syntax import DEFINITIONS, FUNCTIONS, bound_names, is_main_guard, loaded_names, module_names

_IMPORTS = (ast.Import, ast.ImportFrom)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_DEMONSTRATES = frozenset({"print", "input", "exit", "quit", "main", "pprint", "display"})
_TEST_RUNNERS = frozenset({"unittest", "doctest", "pytest"})


def kept_statements(tree: ast.Module, entry_point: str | None) -> list[ast.stmt]:
    """Return the top-level statements that run, in order.

    Definitions and imports stay; assignments too, unless they come after the entry point and nothing reads them;
    other statements stay unless they demonstrate (print, call the program's own functions, run tests) without
    preparing a name that a function reads.
    """
    if all(isinstance(node, (*DEFINITIONS, *_IMPORTS)) for node in tree.body):
        return tree.body
    needed = _names_read_by_definitions(tree)
    own = {node.name for node in tree.body if isinstance(node, DEFINITIONS)}
    kept: list[ast.stmt] = []
    defined = False
    for node in tree.body:
        if _runs(node, needed, own, defined):
            kept.append(node)
        defined = defined or (isinstance(node, FUNCTIONS) and node.name == entry_point)
    return kept


def _names_read_by_definitions(tree: ast.Module) -> set[str]:
    """Return the names that functions and classes take from outside of themselves."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, DEFINITIONS) or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)):
            shared = {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}
            found |= (loaded_names(node) - bound_names(node)) | shared
    return found


def _runs(node: ast.stmt, needed: set[str], own: set[str], defined: bool) -> bool:
    if isinstance(node, (*DEFINITIONS, *_IMPORTS)):
        return True
    if isinstance(node, ast.Assert) or is_main_guard(node):
        return False
    if isinstance(node, ast.Expr) and not isinstance(node.value, (ast.Call, ast.Await, ast.ListComp)):
        return False
    if _prepares(node, needed - own):
        return True
    if isinstance(node, _ASSIGNMENTS):
        return not (defined and _demonstrates(node, own)) if _only_names(node) else not _demonstrates(node, own)
    return not _demonstrates(node, own)


def _only_names(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return all(isinstance(target, (ast.Name, ast.Tuple, ast.List)) for target in targets)


def _prepares(node: ast.stmt, needed: set[str]) -> bool:
    """Say whether a statement binds, fills or changes a name that a definition reads."""
    if isinstance(node, ast.Expr):
        function = node.value.func if isinstance(node.value, ast.Call) else None
        return isinstance(function, ast.Attribute) and _root(function) in needed and not _is_output(function)
    changed = module_names(ast.Module([node], []))
    for one in ast.walk(node):
        if isinstance(one, (ast.Subscript, ast.Attribute)) and not isinstance(one.ctx, ast.Load):
            changed.add(_root(one))
        elif (
            isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and isinstance(one.value.func, ast.Attribute)
        ):
            changed.add(_root(one.value.func))
    return bool(changed & needed)


def _is_output(function: ast.Attribute) -> bool:
    return function.attr in ("write", "writelines", "flush", "print")


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _demonstrates(node: ast.stmt, own: set[str]) -> bool:
    names = loaded_names(node)
    return bool(names & (own | _DEMONSTRATES | _TEST_RUNNERS))
