"""Run folders: appended rows survive, torn ones do not, replaced files are whole or as before."""

from __future__ import annotations

import errno
import json
import os

import pytest

from alodlm import rundir
from alodlm.errors import InputError
from alodlm.jsonl import key_digest
from alodlm.rundir import Journal, RunFolder, replacing, write_json


def row(number, text="x"):
    return {"benchmark": "B", "id": number, "text": text, "generated_tokens": 1, "wall_seconds": 0.5}


def filled(folder, count):
    journal = Journal(folder)
    for number in range(count):
        journal.append(("B", str(number)), row(number))
    journal.close()
    return journal.path


def finished(journal, count):
    index = journal.index
    return [number for number in range(count) if index.positions(digest_array(number))[0] >= 0]


def digest_array(number):
    import numpy as np

    return np.array([key_digest(("B", str(number)))], dtype="S16")


@pytest.mark.parametrize("torn", [b'{"benchmark": "B", "id": 3, "te', b"\0\0\0\0", b'{"id": 3}\n', b"\xff\xfe"])
def test_a_torn_last_line_is_dropped_and_the_rest_kept(tmp_path, torn):
    path = filled(tmp_path, 3)
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    journal = Journal(tmp_path)
    assert finished(journal, 5) == [0, 1, 2]
    journal.append(("B", "3"), row(3))
    journal.close()
    assert path.read_bytes() == whole + json.dumps(row(3)).encode() + b"\n"


def test_a_row_torn_at_any_byte_is_dropped(tmp_path):
    path = filled(tmp_path, 2)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        path.write_bytes(whole[:cut])
        journal = Journal(tmp_path)
        journal.close()
        assert finished(journal, 2) == [0], cut
        assert path.read_bytes() == whole[:first], cut


def test_damage_in_the_middle_is_refused_with_its_line(tmp_path):
    path = filled(tmp_path, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"garbage\n" + lines[2])
    with pytest.raises(InputError, match="line 2: is damaged"):
        Journal(tmp_path)


def test_a_full_disk_leaves_whole_rows_only(tmp_path, monkeypatch):
    path = filled(tmp_path, 2)
    whole = path.read_bytes()
    journal = Journal(tmp_path)
    write = os.write

    def half_then_full(handle, data):
        if len(data) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data[: len(data) - 10])

    monkeypatch.setattr(rundir.os, "write", half_then_full)
    with pytest.raises(OSError, match="No space left"):
        journal.append(("B", "2"), row(2))
    monkeypatch.undo()
    assert path.read_bytes() == whole
    journal.append(("B", "2"), row(2))
    journal.close()
    assert finished(Journal(tmp_path), 3) == [0, 1, 2]


def test_lone_surrogates_are_stored(tmp_path):
    journal = Journal(tmp_path)
    journal.append(("B", "0"), row(0, "\ud800 ok"))
    (raw,) = Journal(tmp_path).index.rows()
    assert json.loads(raw)["text"] == "\ud800 ok"


def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "summary.json"
    write_json(path, {"a": 1})
    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert json.loads(path.read_text()) == {"a": 1}
    assert os.listdir(tmp_path) == ["summary.json"]


def test_a_folder_with_a_run_needs_resume(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.check_usable(resume=False)
    with folder.locked():
        write_json(folder.manifest, {})
    with pytest.raises(InputError, match="already holds a run"):
        folder.check_usable(resume=False)
    folder.check_usable(resume=True)


def test_parts_of_a_run_without_its_manifest_are_refused(tmp_path):
    (tmp_path / "generations").mkdir()
    with pytest.raises(InputError, match=r"no manifest\.json"):
        RunFolder(tmp_path).check_usable(resume=True)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="it is a file"):
        RunFolder(tmp_path / "file").check_usable(resume=False)
    with pytest.raises(InputError, match="cannot be made"):
        RunFolder(tmp_path / "file" / "run").check_usable(resume=False)


def test_two_processes_cannot_write_one_folder(tmp_path):
    with RunFolder(tmp_path).locked(), pytest.raises(InputError, match="another process"), RunFolder(tmp_path).locked():
        pass


def test_a_damaged_manifest_is_named(tmp_path):
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="must be one JSON object"):
        RunFolder(tmp_path).read_manifest()
