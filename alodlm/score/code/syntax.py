"""Questions about program text that is never run here: does it compile, what does it define, what does it need."""

from __future__ import annotations

import ast
import builtins
import functools
import re
import warnings

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
BUILTINS = frozenset(dir(builtins)) | {"__file__"}
_MOST_CHARACTERS = 1 << 18
_MARKERS = re.compile(
    r"<\|?(?:im_end|im_start|endoftext|eot_id|end_of_text|start_header_id|end|eos|end_of_turn|pad)\|?>|</s>|<｜[^｜]*｜>"
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SPACES = str.maketrans({0xA0: " ", 0x2007: " ", 0x202F: " ", 0x3000: " ", 0xFEFF: None, 0x200B: None, 0x200C: None})


@functools.lru_cache(maxsize=128)
def tree_of(source: str) -> ast.Module | None:
    """Return the tree of a program that compiles, else None. Never runs it."""
    return None if isinstance(found := _compiled(source), int) else found


@functools.lru_cache(maxsize=128)
def _compiled(source: str) -> ast.Module | int:
    """Return the tree, or the line (from 1) at which the program stops being one."""
    if len(source) > _MOST_CHARACTERS:
        return 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(source, "<answer>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return 1
    return tree


def prefix_tree(prefix: str) -> ast.Module:
    """Return the tree of a prefix, which may end in a signature without a body; empty where it has none."""
    for ending in ("", "\n    pass\n", "\npass\n"):
        if (tree := tree_of(prefix + ending)) is not None:
            return tree
    return ast.Module([], [])


def cut_to_compile(source: str, attempts: int = 24) -> str:
    """Return the longest beginning found that compiles, cutting whole lines at what does not; maybe nothing."""
    for _ in range(attempts):
        if not source.strip():
            return ""
        found = _compiled(source)
        if not isinstance(found, int):
            return source
        lines = source.split("\n")
        source = "\n".join(lines[: max(0, min(found, len(lines)) - 1)]).rstrip()
    return ""


def repaired(source: str) -> str:
    """Undo what transport did to a program (end-of-text markers, ANSI codes, odd spaces) if it then compiles."""
    if tree_of(source) is not None:
        return source
    attempt = source
    for repair in (_cut_at_marker, lambda text: _ANSI.sub("", text), lambda text: text.translate(_SPACES)):
        attempt = repair(attempt)
        if attempt != source and tree_of(attempt) is not None:
            return attempt
    return source


def _cut_at_marker(source: str) -> str:
    found = _MARKERS.search(source)
    return source[: found.start()] if found else source


def is_main_guard(node: ast.stmt) -> bool:
    """Say whether a statement is `if __name__ == …`."""
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


def defines(tree: ast.Module | None, name: str | None) -> bool:
    """Say whether a program defines `name` (any function at all where it is None) at its top level."""
    if tree is None:
        return False
    if name is None:
        return any(isinstance(node, FUNCTIONS) or _is_lambda(node) for node in tree.body)
    return name in module_names(tree)


def _is_lambda(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)


def module_names(tree: ast.Module) -> set[str]:
    """Return the names that a program's top level binds (not those inside its functions and classes)."""
    found: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, DEFINITIONS):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        pending.extend(ast.iter_child_nodes(node))
    return found


def loaded_names(tree: ast.AST) -> set[str]:
    """Return the names that are read anywhere."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def bound_names(tree: ast.AST) -> set[str]:
    """Return the names bound anywhere: at the top level, as parameters, as locals."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def statement_source(source: str, tree: ast.Module, kept: list[ast.stmt]) -> str:
    """Return the text of some of a program's statements, as written where each has its lines to itself."""
    lines = source.split("\n")
    spans = {id(node): (_first_line(node), node.end_lineno or node.lineno) for node in tree.body}
    starts = [start for start, _ in spans.values()]
    ends = [end for _, end in spans.values()]
    parts = []
    for node in kept:
        start, end = spans[id(node)]
        alone = starts.count(start) == 1 and ends.count(end) == 1 and ends.count(start) == (start == end)
        alone = alone and starts.count(end) == (start == end)
        parts.append("\n".join(lines[start - 1 : end]) if alone else ast.unparse(node))
    return "\n".join(parts) + "\n" if parts else ""


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])
