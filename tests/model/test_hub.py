"""Model arguments: folders, model IDs, the offline cache, and what is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from alodlm.errors import InputError, MissingError
from alodlm.model.hub import INFERENCE_FILES, resolve_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def no_download(monkeypatch):
    monkeypatch.setattr("alodlm.model.hub._download", lambda name: pytest.fail(f"tried to download {name}"))


def test_every_spelling_of_a_folder_is_that_folder(folder, monkeypatch, no_download):
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("HOME", str(folder.parent))
    for spelling in (str(folder), folder, "checkpoint", "./checkpoint", "../" + folder.parent.name + "/checkpoint"):
        assert resolve_model(spelling).resolve() == folder.resolve()
    assert resolve_model("~/checkpoint") == folder
    (folder / "owner").mkdir()
    monkeypatch.chdir(folder)
    assert resolve_model("owner") == Path("owner")


@pytest.mark.parametrize("name", ["/no/such/folder", "./owner/name", "../name", "~/no-such-name", ".hidden/name"])
def test_a_path_is_a_folder_and_nothing_else(name, no_download):
    with pytest.raises(MissingError, match="no such folder"):
        resolve_model(name)


def test_a_path_object_is_a_folder_and_nothing_else(no_download):
    with pytest.raises(MissingError, match="no such folder"):
        resolve_model(Path("owner/name"))


def test_an_unknown_home_is_refused(no_download):
    with pytest.raises(InputError, match="home folder is unknown"):
        resolve_model("~nobody-of-this-name/x")


NEITHER = ["", "a/b/c", "owner/", "owner/na me", "owner\\name", "x--y/z", "a..b", "née/x", "a\0b"]


@pytest.mark.parametrize("name", NEITHER)
def test_what_is_neither_folder_nor_id_is_a_usage_error(name, no_download):
    with pytest.raises(InputError, match="must be a checkpoint folder or a Hugging Face model ID"):
        resolve_model(name)


@pytest.mark.parametrize("spelling", ["config.json", "./config.json"])
def test_a_file_is_refused_as_a_model(folder, monkeypatch, spelling, no_download):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="is a file"):
        resolve_model(spelling)


def test_only_what_inference_needs_is_downloaded(monkeypatch, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    from huggingface_hub.utils import filter_repo_objects

    wanted = [
        "config.json", "alodlm_config.json", "generation_config.json", "model.safetensors",
        "model-00001-of-00002.safetensors", "model.safetensors.index.json", "exit_gate.pt", "exit_gate.safetensors",
        "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "special_tokens_map.json",
        "added_tokens.json", "chat_template.jinja", "additional_chat_templates/tool.jinja",
    ]  # fmt: skip
    unwanted = [
        "pytorch_model.bin", "optimizer.pt", "training_args.bin", "other_gate.pt", "README.md", "modeling_x.py",
        "checkpoint-100/model.safetensors", "checkpoint-100/exit_gate.pt", "onnx/model.onnx", "tf_model.h5",
        "trainer_state.json", ".gitattributes", "model.gguf",
    ]  # fmt: skip
    asked = {}

    def snapshot_download(repo_id, **patterns):
        asked.update(patterns, repo_id=repo_id)
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    assert resolve_model("owner/name") == tmp_path
    assert asked.pop("repo_id") == "owner/name"
    assert list(filter_repo_objects(wanted + unwanted, **asked)) == wanted
    assert len(set(INFERENCE_FILES)) == len(INFERENCE_FILES)


OPEN = """
import sys
from alodlm.errors import AlodlmError
from alodlm.model.hub import resolve_model
try:
    print(resolve_model(sys.argv[1]))
except AlodlmError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def run_with_cache(cache, name, **environment):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
    clean |= {"HF_HUB_CACHE": str(cache), "HF_HOME": str(cache)} | environment
    return subprocess.run([sys.executable, "-c", OPEN, name], env=clean, capture_output=True, text=True)


@pytest.fixture
def cached(folder, tmp_path):
    """A cache that holds owner/name, as a download leaves it."""
    pytest.importorskip("huggingface_hub")
    repository = tmp_path / "cache" / "models--owner--name"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    blobs, snapshot = repository / "blobs", repository / "snapshots" / COMMIT
    shutil.copytree(folder, blobs)
    snapshot.mkdir(parents=True)
    for blob in blobs.iterdir():
        (snapshot / blob.name).symlink_to(Path("../../blobs") / blob.name)
    return tmp_path / "cache", snapshot


UNREACHABLE = {"HF_ENDPOINT": "http://127.0.0.1:9"}


@pytest.mark.parametrize("environment", [{"HF_HUB_OFFLINE": "1"}, UNREACHABLE], ids=["offline", "unreachable"])
def test_the_cache_serves_without_network(cached, environment):
    cache, snapshot = cached
    result = run_with_cache(cache, "owner/name", **environment)
    assert (result.returncode, result.stdout.strip()) == (0, str(snapshot))


def test_a_cached_checkpoint_opens_through_its_links(cached):
    from alodlm.model.checkpoint import open_checkpoint

    assert open_checkpoint(cached[1]).config.num_hidden_layers == 3


@pytest.mark.parametrize("environment", [{"HF_HUB_OFFLINE": "1"}, UNREACHABLE], ids=["offline", "unreachable"])
def test_without_network_and_cache_the_next_step_is_told(tmp_path, environment):
    pytest.importorskip("huggingface_hub")
    result = run_with_cache(tmp_path, "owner/name", **environment)
    assert result.returncode == 3
    assert "owner/name" in result.stdout and "\nnext: connect to the network once, or give the path" in result.stdout


@pytest.mark.parametrize(
    ("name", "exit_code", "reason"),
    [
        ("RepositoryNotFoundError", 3, "is neither a folder here nor a model on Hugging Face"),
        ("GatedRepoError", 3, "is gated"),
        ("HfHubHTTPError", 3, "could not be downloaded"),
        ("HFValidationError", 2, "is neither a folder here nor a Hugging Face model ID"),
        ("OSError", 3, "could not be downloaded"),
    ],
)
def test_each_way_a_download_fails_has_its_message(monkeypatch, name, exit_code, reason):
    hub = pytest.importorskip("huggingface_hub")
    kind = getattr(hub.errors, name, OSError)
    failure = kind.__new__(kind)
    failure.args = ("the reason",)

    def snapshot_download(repo_id, **_):
        raise failure

    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    with pytest.raises((InputError, MissingError)) as caught:
        resolve_model("owner/name")
    assert caught.value.exit_code == exit_code
    assert "model owner/name" in str(caught.value) and reason in str(caught.value)
