"""Which device and precision a request means, with and without CUDA."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from alodlm.errors import InputError, MissingError  # noqa: E402
from alodlm.model.device import resolve_device, resolve_precision  # noqa: E402


@pytest.fixture
def cuda_devices(monkeypatch):
    def pretend(count: int, current: int = 0) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: current)

    return pretend


@pytest.mark.parametrize(
    ("count", "name", "device", "precision"),
    [
        (0, "auto", "cpu", "fp32"),
        (0, "cpu", "cpu", "fp32"),
        (0, "cpu:0", "cpu", "fp32"),
        (2, "auto", "cuda:1", "bf16"),
        (2, "cuda", "cuda:1", "bf16"),
        (2, "cuda:0", "cuda:0", "bf16"),
        (2, "cpu", "cpu", "fp32"),
    ],
)
def test_a_name_means_a_device_and_its_default_precision(cuda_devices, count, name, device, precision):
    cuda_devices(count, current=1)
    resolved = resolve_device(name)
    assert str(resolved) == device
    assert resolve_precision(None, resolved) == precision
    assert [resolve_precision(given, resolved) for given in ("fp32", "bf16")] == ["fp32", "bf16"]


@pytest.mark.parametrize("name", ["gpu", "mps", "meta", "cuda:x", "", "cuda:-1"])
def test_another_name_is_a_usage_error(name):
    with pytest.raises(InputError, match="--device: must be cpu, cuda, cuda:N or auto"):
        resolve_device(name)


@pytest.mark.parametrize(("count", "name"), [(0, "cuda"), (0, "cuda:0"), (1, "cuda:1")])
def test_a_cuda_device_that_is_not_there_is_missing(cuda_devices, count, name):
    cuda_devices(count)
    with pytest.raises(MissingError) as caught:
        resolve_device(name)
    assert caught.value.exit_code == 3 and name in str(caught.value) and "\nnext: use " in str(caught.value)


def test_another_precision_is_a_usage_error():
    with pytest.raises(InputError, match="--precision: must be fp32 or bf16; got 'fp16'"):
        resolve_precision("fp16", torch.device("cpu"))
