"""The demo's training settings: known keys only."""

from __future__ import annotations

import pytest

from alodlm.errors import InputError


@pytest.fixture
def settings(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "scripts"))
    from demo_training import settings

    return settings


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("batch:", "bach:", ["bach", "did you mean batch?"]),
        ("  heads:", "  hands:", ["model.hands", "did you mean heads?"]),
        ("  size: 16", "  size: wide", ["windows.size", "int"]),
        ("clip_norm: 1.0", "", ["clip_norm"]),
        ("steps:", "steps: {:", ["YAML"]),
    ],
)
def test_a_bad_settings_file_is_refused_by_name(settings, root, tmp_path, old, new, words):
    text = (root / "configs" / "demo.yaml").read_text()
    assert old in text
    (tmp_path / "bad.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        settings.load(tmp_path / "bad.yaml")
    assert all(word in str(refused.value) for word in [str(tmp_path / "bad.yaml"), *words])


def test_the_settings_in_the_repository_load(settings, root):
    assert settings.load(root / "configs" / "demo.yaml").model.max_depth == 4
