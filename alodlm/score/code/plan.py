"""How a task's tests will run, decided from the task alone, before any answer is looked at.

Names that the tests use and that neither they, the prefix, nor Python define are the answer's; each becomes a
stand-in that calls into the answer's process. Everything else that `function_prefix` defines runs from the prefix,
beside the tests. Only where the tests handle the answer's objects themselves (set attributes, call what a call
returned, pass an instance on) may objects stay behind as references.
"""

from __future__ import annotations

import ast
import sys
from typing import NamedTuple

from alodlm.score.code.child import codec
from alodlm.score.code.syntax import (
    BUILTINS,
    DEFINITIONS,
    FUNCTIONS,
    bound_names,
    loaded_names,
    module_names,
    prefix_tree,
    tree_of,
)  # fmt: skip

RULE_VALUES, RULE_OBJECTS = "tests_call_by_value", "tests_hold_references"
_VALUE_TYPES = (
    int, float, complex, str, bytes, bytearray, bool, list, tuple, set, frozenset, dict, range, Exception,
    *(type(codec.decode(tree)) for tree in (
        ["q", None], ["C"], ["O"], ["N", "0"], ["F", "0x1", "0x1"], ["D", "datetime", "2000-01-01"],
        ["D", "time", "00:00"], ["td", 0, 0, 0], ["m", "", "", ["l"], ["d"]],
    )),
)  # fmt: skip
_VALUE_ATTRIBUTES = frozenset(name for kind in _VALUE_TYPES for name in dir(kind)) | {
    "shape", "dtype", "tolist", "all", "any", "sum", "mean", "size", "ndim", "T", "astype", "flatten",
    "default_factory", "send", "close", "throw", "args", "__name__",
}  # fmt: skip


class Plan(NamedTuple):
    """The answer's names that the tests use, the entry point, and the trusted prefix.

    `objects`: the answer's objects may stay behind as references. `changes`: arguments changed in place are changed
    in the tests too, which is so only where tests call for the effect and let the result go: elsewhere a function
    that empties its argument would decide what it is compared with.
    """

    names: list[str]
    entry_point: str | None
    prefix: str
    objects: bool
    changes: bool

    @property
    def rule(self) -> str:
        """The name that a score records."""
        return RULE_OBJECTS if self.objects else RULE_VALUES


def make(tests: str, function_prefix: str, entry_point: str | None) -> Plan:
    """Plan a `python_tests` task."""
    tree = _module(tests)
    prefix = prefix_tree(function_prefix)
    if entry_point is None:
        entry_point = next((node.name for node in reversed(prefix.body) if isinstance(node, FUNCTIONS)), None)
    kept = [node for node in prefix.body if not (isinstance(node, DEFINITIONS) and node.name == entry_point)]
    prefix = ast.Module(kept, [])
    free = loaded_names(tree) - bound_names(tree)
    names = sorted((free - module_names(prefix)) - BUILTINS)
    if entry_point in free and entry_point not in names:
        names.append(entry_point)
    if not names:
        names = _shadowing(tree)
    if entry_point is None and len(names) == 1:
        entry_point = names[0]
    own = set(names)
    return Plan(names, entry_point, ast.unparse(prefix), _handles_objects(tree, own), _wants_changes(tree, own))


def _wants_changes(tree: ast.Module, names: set[str]) -> bool:
    calls = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return any(_is_name(call.func, names | _aliases(tree, names)) for call in calls)


def _module(source: str) -> ast.Module:
    return tree_of(source) or ast.Module([], [])


def _shadowing(tree: ast.Module) -> list[str]:
    """Where tests use no name of their own, the built-in that they call most is the function asked for."""
    calls = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    calls = [name for name in calls if name in BUILTINS]
    return [max(sorted(set(calls)), key=calls.count)] if calls else []


def _handles_objects(tree: ast.Module, names: set[str]) -> bool:
    aliases = names | _aliases(tree, names)
    results = _result_variables(tree, aliases)
    plain_uses = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    plain_uses |= {id(item) for node in ast.walk(tree) if isinstance(node, ast.Call) for item in node.args}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names and id(node) not in plain_uses and node.id[0].isupper():
            return True
        if isinstance(node, ast.ClassDef) and any(_is_name(base, aliases) for base in node.bases):
            return True
        if isinstance(node, ast.Attribute) and _is_foreign_attribute(node, aliases, results):
            return True
        if isinstance(node, ast.Call) and _uses_objects(node, aliases, results):
            return True
    return False


def _is_name(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_result(node: ast.AST, aliases: set[str], results: set[str]) -> bool:
    return _is_name(node, results) or (isinstance(node, ast.Call) and _is_name(node.func, aliases))


def _is_foreign_attribute(node: ast.Attribute, aliases: set[str], results: set[str]) -> bool:
    if _is_name(node.value, aliases):
        return node.attr not in ("__name__", "__doc__")
    return _is_result(node.value, aliases, results) and node.attr not in _VALUE_ATTRIBUTES


def _uses_objects(call: ast.Call, aliases: set[str], results: set[str]) -> bool:
    """Say whether a call calls a result, asks for a class of the answer's, or passes an instance to the answer."""
    if _is_result(call.func, aliases, results):
        return True
    if _is_name(call.func, {"isinstance", "issubclass"}) and any(_is_name(item, aliases) for item in call.args[1:]):
        return True
    if not _is_name(call.func, aliases):
        return False
    inner = (node for item in call.args for node in ast.walk(item) if isinstance(node, ast.Call))
    return any(_is_name(node.func, aliases) and _looks_like_class(node.func.id) for node in inner)


def _looks_like_class(name: str) -> bool:
    return name[:1].isupper() and "_" not in name and not name.isupper()


def _aliases(tree: ast.Module, names: set[str]) -> set[str]:
    """Return the parameters under which functions of the tests receive the answer's functions."""
    functions = {node.name: node for node in tree.body if isinstance(node, FUNCTIONS)}
    found = set()
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in functions:
            parameters = functions[call.func.id].args.args
            found |= {p.arg for p, item in zip(parameters, call.args, strict=False) if _is_name(item, names)}
    return found


def _result_variables(tree: ast.Module, aliases: set[str]) -> set[str]:
    """Return the variables that hold what a call of the answer returned."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_name(node.value.func, aliases):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def trusted_imports(program: str, names: list[str]) -> str:
    """Return the program's standard-library imports of names that the tests use: they run beside the tests."""
    tree = _module(program)
    lines: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            used = [a for a in node.names if (a.asname or a.name).partition(".")[0] in names and _is_standard(a.name)]
            if used:
                lines.append(ast.unparse(ast.Import(used)))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and _is_standard(node.module):
            used = [alias for alias in node.names if (alias.asname or alias.name) in names]
            if used:
                lines.append(ast.unparse(ast.ImportFrom(node.module, used, 0)))
    return "\n".join(lines)


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names
