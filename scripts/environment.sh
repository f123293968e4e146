# Sourced by scripts/demo and scripts/test: a virtual environment with this package under the tested versions.
# ALODLM_VENV names its folder (default .venv); PYTHON names the interpreter to make it with.

say() { printf '== %s\n' "$*"; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    echo "error: no Python 3.11, 3.12 or 3.13 with the venv module found" >&2
    echo "next: install one, or name it: PYTHON=/path/to/python3.11 bash $0" >&2
    exit 3
}

# prepare_environment EXTRAS: make or reuse the environment and put it first on PATH.
prepare_environment() {
    local extras="$1" folder="${ALODLM_VENV:-$PWD/.venv}" stamp wanted python
    stamp="$folder/.alodlm-$extras"
    wanted="$(cat pyproject.toml constraints.txt | cksum) $PWD"
    if [ ! -x "$folder/bin/python" ]; then
        python="$(find_python)"
        say "making a virtual environment in $folder with $("$python" --version)"
        "$python" -m venv "$folder"
    fi
    export PATH="$folder/bin:$PATH" VIRTUAL_ENV="$folder"
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        say "using the virtual environment in $folder"
        return
    fi
    say "installing alodlm-eval[$extras] under constraints.txt (the first time takes minutes)"
    # torch first and by its exact version: a range alone could bring another build along.
    if ! { pip install --quiet --disable-pip-version-check "$(grep '^torch==' constraints.txt)" &&
        pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$extras]"; }; then
        echo "error: installing the package failed; the message is above" >&2
        echo "next: check that a package index can be reached, then run this again" >&2
        exit 1
    fi
    printf '%s' "$wanted" >"$stamp"
}
