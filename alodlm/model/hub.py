"""From a model argument to a checkpoint folder: a local folder, or a Hugging Face model ID.

A path that is absolute or begins with `.` or `~` is a folder and nothing else. For an ID only the files that inference
needs are downloaded; without network the local cache serves. Nothing from a checkpoint is ever run.
"""

from __future__ import annotations

import re
from pathlib import Path

from alodlm.errors import InputError, MissingError

# Configurations, weights and their index, the gate, tokenizer files and chat templates; at the top level only.
INFERENCE_FILES = (
    "config.json", "alodlm_config.json", "generation_config.json",
    "*.safetensors", "model.safetensors.index.json", "exit_gate.pt",
    "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt",
    "chat_template.jinja", "chat_template.json", "additional_chat_templates/*.jinja",
)  # fmt: skip
_SUBFOLDERS = ["*/*.safetensors"]
_PART = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?"
_MODEL_ID = re.compile(rf"(?:{_PART}/)?{_PART}")


def resolve_model(model: str | Path) -> Path:
    """Return the checkpoint folder that `model` names, downloading it if it is a Hugging Face model ID.

    A folder that exists wins over an ID of the same name. Raises `MissingError` for a folder that is not there, or a
    model that can neither be downloaded nor found in the cache.
    """
    text = str(model)
    if isinstance(model, Path) or text.startswith(("/", ".", "~")) or Path(text).is_absolute():
        return _folder(Path(text))
    if text and Path(text).is_dir():
        return Path(text)
    if not _MODEL_ID.fullmatch(text) or ".." in text or "--" in text:
        rule = "must be a checkpoint folder or a Hugging Face model ID such as owner/name"
        raise InputError("model", rule, value=text, next_step="check the path; a folder may begin with ./")
    if Path(text).exists():
        raise InputError(f"model {text}", "is a file", next_step="give the folder that holds the checkpoint")
    return _download(text)


def _folder(path: Path) -> Path:
    try:
        folder = path.expanduser()
    except RuntimeError as error:
        rule = f"the home folder is unknown ({error})"
        raise InputError("model", rule, value=str(path), next_step="write the path out") from None
    if not folder.exists():
        advice = "check the path, or give a Hugging Face model ID such as owner/name"
        raise MissingError(f"model {path}", "no such folder", next_step=advice)
    if not folder.is_dir():
        raise InputError(f"model {path}", "is a file", next_step="give the folder that holds the checkpoint")
    return folder


def _download(model_id: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        HTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )  # fmt: skip

    thing = f"model {model_id}"
    try:
        found = snapshot_download(model_id, allow_patterns=list(INFERENCE_FILES), ignore_patterns=_SUBFOLDERS)
        return Path(found)
    except HFValidationError as error:
        rule = f"is neither a folder here nor a Hugging Face model ID ({error})"
        raise InputError(thing, rule, next_step="check the spelling; a folder may begin with ./") from None
    except GatedRepoError:
        step = "accept its conditions on huggingface.co, then `hf auth login`"
        raise MissingError(thing, "is gated on Hugging Face", next_step=step) from None
    except RepositoryNotFoundError:
        step = "check the spelling; for a private model `hf auth login`; for a folder give its path"
        raise MissingError(thing, "is neither a folder here nor a model on Hugging Face", next_step=step) from None
    except LocalEntryNotFoundError:
        step = "connect to the network once, or give the path of a folder that holds the checkpoint"
        rule = "is no folder here, Hugging Face cannot be reached, and the local cache does not hold it whole"
        raise MissingError(thing, rule, next_step=step) from None
    except (HTTPError, OSError) as error:
        step = "try again, or give the path of a folder that holds the checkpoint"
        raise MissingError(thing, f"could not be downloaded ({error})", next_step=step) from None
