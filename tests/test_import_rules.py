"""Who may import whom: what keeps `--help` quick, rescoring free of torch, and the model unaware of decoding."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "accelerate", "safetensors")
TORCH_FREE = ("records", "errors", "tasks", "rundir", "rows", "jsonl", "predictions", "thinking", "pipeline", "score",
              "judge", "report", "cli", "decode.settings")  # fmt: skip
STAGES = ("alodlm.pipeline", "alodlm.candidates", "alodlm.model", "alodlm.score", "alodlm.report", "alodlm.api")


def modules(root):
    for path in sorted((root / "alodlm").rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return []
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def all_imports(tree):
    return {name for node in ast.walk(tree) for name in imported(node)}


def imports_at_load(tree):
    return {name for node in tree.body for name in imported(node)}


def within(name, packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_scoring_judging_and_reporting_never_import_torch(root):
    homes = [f"alodlm.{name}" for name in TORCH_FREE]
    for name, tree in modules(root):
        if within(name, homes):
            assert not [one for one in all_imports(tree) if within(one, HEAVY)], name


def test_the_model_knows_nothing_of_decoding(root):
    for name, tree in modules(root):
        if within(name, ["alodlm.model"]):
            assert not [one for one in all_imports(tree) if within(one, ["alodlm.decode", "alodlm.candidates"])], name


def test_only_the_optimized_decoder_imports_kernels_and_inside_a_function(root):
    for name, tree in modules(root):
        if [one for one in all_imports(tree) if within(one, ["alodlm_kernels"])]:
            assert name == "alodlm.decode.optimized"
            assert not [one for one in imports_at_load(tree) if within(one, ["alodlm_kernels"])]


def test_commands_import_their_stage_inside_the_command(root):
    for name, tree in modules(root):
        if within(name, ["alodlm.cli"]):
            assert not [one for one in imports_at_load(tree) if within(one, STAGES)], name


def test_imports_are_absolute_but_in_the_child_side_programs_which_run_without_the_package(root):
    for name, tree in modules(root):
        relative = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
        assert not relative or (within(name, ["alodlm.score.code.child"]) and all(one.level == 1 for one in relative))


def test_no_module_of_the_package_is_named_kernels(root):
    assert not (root / "kernels" / "__init__.py").exists()
    assert not (root / "tests" / "kernels").exists()


WITHOUT_TORCH = f"""
import importlib, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(HEAVY)!r}:
            raise ImportError(f"not installed: {{name}}")

sys.meta_path.insert(0, Refuse())
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_everything_but_the_local_model_imports_where_torch_is_not_installed(root):
    homes = [f"alodlm.{name}" for name in TORCH_FREE]
    names = [name for name, _ in modules(root) if within(name, homes) and "__main__" not in name]
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, "alodlm", *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["DecodeSettings", "RunOptions", "evaluate", "load_decoder", "rescore"])
def test_the_package_offers_its_names_lazily(name):
    program = f"import sys, alodlm; assert 'numpy' not in sys.modules; print(alodlm.{name}.__doc__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and len(done.stdout) > 20, done.stderr
