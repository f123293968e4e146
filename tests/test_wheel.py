"""The wheel: what it holds, and that it works alone from an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """Build from a copy of what a checkout holds, with the build tools at hand: nothing is fetched."""
    source, out = tmp_path_factory.mktemp("source") / "checkout", tmp_path_factory.mktemp("wheel")
    # The wheel must come out the same whatever lies about: leave out what git ignores.
    ignored = shutil.ignore_patterns(".git", ".venv", "build", "dist", "*.egg-info", "outputs", "__pycache__", "tests")
    shutil.copytree(root, source, ignore=ignored)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_exactly_the_two_packages_and_the_demo(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"alodlm", "alodlm_kernels"}
    assert "alodlm/resources/demo/tasks.jsonl" in names
    assert "alodlm/resources/demo/checkpoint/model.safetensors" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_installed_wheel_runs_the_demo_from_an_empty_folder(wheel, tmp_path):
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True)
    # Its dependencies are lent by this environment as a plain path, which brings no editable install along.
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    where = [str(python), "-c", "import alodlm; print(alodlm.__file__)"]
    found = subprocess.run(where, cwd=empty, env=clean, capture_output=True, text=True, check=True).stdout
    assert Path(found).is_relative_to(environment)
    command = [str(environment / "bin" / "alodlm-evaluate"), "--demo", "--limit", "2"]
    done = subprocess.run(command, cwd=empty, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (empty / "outputs" / "demo" / "summary.json").exists() and "average" in done.stdout
