"""From an answer's text to the program that runs.

In order: the last fenced block that defines the entry point, the last that defines any function, the last block,
unfenced code cut to what compiles. A full definition is used as it is; a body alone follows `function_prefix`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import NamedTuple

from alodlm.score.code import fences
from alodlm.score.code.prune import kept_statements
from alodlm.score.code.syntax import (
    BUILTINS,
    DEFINITIONS,
    FUNCTIONS,
    bound_names,
    cut_to_compile,
    defines,
    loaded_names,
    module_names,
    prefix_tree,
    repaired,
    statement_source,
    tree_of,
)  # fmt: skip
from alodlm.thinking import answer_part, ends_inside_thinking

_CODE_LINE = re.compile(
    r"^(?:async def|def|class|import|from|@|[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*(?::[^=]+)?=[^=])"
)
_MOST_STARTS = 24
_MOST_CHARACTERS = 1 << 20


class Answer(NamedTuple):
    """The program that runs (None when there is none), and why it cannot run (`no_answer`, `compile_error`)."""

    source: str | None
    failure: str | None = None


def program(text: str, prompt: str, function_prefix: str, entry_point: str | None) -> Answer:
    """Return the program of an answer to a prompt."""
    try:
        return _program(text, prompt, function_prefix, entry_point)
    except (RecursionError, MemoryError):
        return Answer(text[:_MOST_CHARACTERS], "compile_error")


def _program(text: str, prompt: str, function_prefix: str, entry_point: str | None) -> Answer:
    text = answer_part(text, opened=ends_inside_thinking(prompt))[:_MOST_CHARACTERS]
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return Answer(None, "no_answer")
    prefix = prefix_tree(function_prefix)
    entry_point = entry_point or _last_function(prefix)
    found = fences.find(text)
    blocks = _with_opened_by_prompt(found, prompt, entry_point)
    chosen = _choose(blocks, entry_point)
    if chosen is not None and defines(tree_of(chosen.source), entry_point):
        return _full(chosen.source, blocks, prefix, entry_point)
    if chosen is None or _opened(prompt):
        unfenced = _unfenced(fences.outside_new_question(found.before), entry_point)
        if defines(tree_of(unfenced), entry_point):
            return _full(unfenced, [], prefix, entry_point)
    body = fences.outside_new_question(text) if chosen is None else chosen.source
    if completed := _completed(body, function_prefix, entry_point):
        return Answer(completed)
    source = unfenced if chosen is None else chosen.source
    return _last_resort(source, blocks, prefix, entry_point)


def _last_resort(source: str, blocks: list[fences.Block], prefix: ast.Module, entry_point: str | None) -> Answer:
    """Run what there is: a program without the entry point, or one that does not compile."""
    if not source.strip():
        return Answer(None, "no_answer")
    if tree_of(source) is not None:
        return _full(source, blocks, prefix, entry_point)
    shortened = cut_to_compile(source)
    if defines(tree_of(shortened), entry_point):
        return _full(shortened, blocks, prefix, entry_point)
    return Answer(source, "compile_error")


def _last_function(tree: ast.Module) -> str | None:
    return next((node.name for node in reversed(tree.body) if isinstance(node, FUNCTIONS)), None)


def _opened(prompt: str) -> bool:
    """Say whether the prompt ends inside a fenced block."""
    return len(re.findall(r"^[ \t]*(?:```|~~~)", prompt, re.MULTILINE)) % 2 == 1


def _with_opened_by_prompt(found: fences.Fenced, prompt: str, entry_point: str | None) -> list[fences.Block]:
    """Add the block that the prompt opened and the answer only closes."""
    if not (found.blocks and found.first_is_bare and found.before.strip()):
        return found.blocks
    source = repaired(textwrap.dedent(found.before))
    if _opened(prompt) or defines(tree_of(source), entry_point) or defines(tree_of(source), None):
        return [fences.Block(source, "", 0, 0), *found.blocks]
    return found.blocks


def _choose(blocks: list[fences.Block], entry_point: str | None) -> fences.Block | None:
    blocks = [block for block in blocks if block.source.strip()]
    python = [block for block in blocks if block.is_python] or blocks
    for name in (entry_point, None):
        for block in reversed(python):
            if defines(tree_of(block.source), name):
                return block
    mentions = re.compile(rf"^\s*(?:async\s+)?def\s+{re.escape(entry_point)}\b" if entry_point else r"^\s*def\s", re.M)
    cut_off = [block for block in python if tree_of(block.source) is None and mentions.search(block.source)]
    return (cut_off or python or [None])[-1]


def _full(source: str, blocks: list[fences.Block], prefix: ast.Module, entry_point: str | None) -> Answer:
    """Put a program together: the prefix's other names, what other blocks define for it, and itself, pruned."""
    tree = tree_of(source)
    kept = kept_statements(tree, entry_point)
    if not kept and not any(isinstance(node, ast.Expr) for node in tree.body):
        return Answer(None, "no_answer")
    helpers = _helpers(ast.Module(kept, []), [block.source for block in blocks if block.source != source], prefix)
    others = [node for node in prefix.body if not (isinstance(node, FUNCTIONS) and node.name == entry_point)]
    others = [node for node in others if not isinstance(node, ast.Expr)]
    return Answer(_joined([ast.unparse(ast.Module(others, [])), *helpers, statement_source(source, tree, kept)]))


def _joined(parts: list[str]) -> str:
    """Join program texts, imports from __future__ first."""
    whole = "\n".join(part for part in parts if part.strip())
    future = re.findall(r"^from __future__ import [^\n]+$", whole, re.MULTILINE)
    if future and len([part for part in parts if part.strip()]) > 1:
        whole = re.sub(r"^from __future__ import [^\n]+$", "", whole, flags=re.MULTILINE)
        whole = "\n".join([*dict.fromkeys(future), whole])
    return whole if whole.endswith("\n") else whole + "\n"


def _helpers(program_tree: ast.Module, sources: list[str], prefix: ast.Module) -> list[str]:
    """Return what other blocks define of the names that the program needs and lacks."""
    if not sources:
        return []
    known = BUILTINS | module_names(prefix)
    missing = loaded_names(program_tree) - bound_names(program_tree) - known
    parts: list[str] = []
    for source in reversed(sources):
        tree = tree_of(source)
        if tree is None or not missing:
            continue
        used = _needed_statements(tree, missing)
        if used:
            parts.insert(0, statement_source(source, tree, used))
            taken = ast.Module(used, [])
            missing = (missing | (loaded_names(taken) - known)) - bound_names(taken)
    return parts


def _needed_statements(tree: ast.Module, missing: set[str]) -> list[ast.stmt]:
    kinds = (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    candidates = [node for node in tree.body if isinstance(node, kinds)]
    wanted, used = set(missing), []
    while fresh := [n for n in candidates if n not in used and module_names(ast.Module([n], [])) & wanted]:
        used += fresh
        wanted |= loaded_names(ast.Module(fresh, []))
    return [node for node in candidates if node in used]


def _unfenced(text: str, entry_point: str | None) -> str:
    """Return the code of an answer without fences: from the first line that starts some, cut to what compiles."""
    text = repaired(text)
    if (tree := tree_of(text)) is not None:
        return text if any(not isinstance(node, ast.Expr) for node in tree.body) else ""
    lines = text.split("\n")
    best = ""
    starts = [index for index, line in enumerate(lines) if _CODE_LINE.match(line.lstrip())]
    for start in starts[:_MOST_STARTS]:
        found = cut_to_compile(repaired(textwrap.dedent("\n".join(lines[start:]))))
        if defines(tree_of(found), entry_point):
            return found
        if not best and found.strip():
            best = found
    return best


def _completed(text: str, function_prefix: str, entry_point: str | None) -> str | None:
    """Return the prefix with the answer as its body; None where that gives no function that does anything."""
    stub = prefix_tree(function_prefix)
    bodies = {node.name: node for node in stub.body if isinstance(node, FUNCTIONS)}
    if not function_prefix.strip() or entry_point not in bodies:
        return None
    prefix = function_prefix if function_prefix.endswith("\n") else function_prefix + "\n"
    docstring = len(bodies[entry_point].body) if tree_of(function_prefix) is not None else 0
    indentation = " " * (bodies[entry_point].body[0].col_offset or 4)
    dedented = textwrap.dedent(text.strip("\n"))
    shapes = [text.strip("\n"), indentation + text.strip(), textwrap.indent(dedented, indentation)]
    whole = [prefix + shape for shape in shapes]
    for source in [*map(repaired, whole), *map(cut_to_compile, whole)]:
        tree = tree_of(source)
        if tree is None or len(source) <= len(prefix):
            continue
        function = next((n for n in tree.body if isinstance(n, FUNCTIONS) and n.name == entry_point), None)
        if function is not None and len(function.body) > docstring:
            return statement_source(source, tree, kept_statements(tree, entry_point))
    return None
