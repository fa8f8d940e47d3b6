# Sourced by scripts/gantrain, scripts/test and .ci/run: makes and keeps up to date the virtual environment .venv of this checkout.
# `prepare run` installs gantrain (with the GPU libraries where nvidia-smi works), `prepare dev` also what tests and linters need.
# Nothing is done, in a few milliseconds, while .venv/.ready-run or .ready-dev matches pyproject.toml and constraints.txt.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv

prepare() {
    local extra=$1
    is_ready "$extra" && return
    (
        exec 9<"$root/scripts/constraints.txt" # the lock: freed by the kernel, also after a kill
        if command -v flock >/dev/null; then
            flock -n 9 || { say "another process prepares $venv; waiting for it" && flock 9; }
        fi
        is_ready "$extra" || install "$extra"
    )
}

is_ready() {
    [[ -e $venv/.ready-$1 && $(<"$venv/.ready-$1") == "$(fingerprint)" ]]
}

fingerprint() { # the path too: a virtual environment that was moved does not work
    echo "$root"
    cksum <"$root/pyproject.toml"
    cksum <"$root/scripts/constraints.txt"
}

install() {
    local extra=$1 extras= start=$SECONDS
    [[ $extra == dev ]] && extras+=,dev
    has_gpu && extras+=,gpu
    say "preparing $venv${extras:+ with ${extras#,}} (the first time: about a minute and 2 GB, mostly TensorFlow)"
    rm -f "$venv"/.ready-* # an interrupted installation must not look whole
    make_venv
    pip_install setuptools
    pip_install --no-build-isolation --editable "$root${extras:+[${extras#,}]}"
    fingerprint >"$venv/.ready-run"
    [[ $extra == dev ]] && fingerprint >"$venv/.ready-dev"
    say "ready after $((SECONDS - start)) s"
}

make_venv() {
    local python mark=$venv/.made-by-gantrain
    if [[ -e $mark ]] && { [[ $(<"$mark") != "$root" ]] || ! works "$venv/bin/python"; }; then
        rm -rf "$venv" # ours, and moved, half-made, or left behind by a Python that is gone
    fi
    if [[ -z $(ls -A "$venv" 2>/dev/null) ]]; then
        python=$(find_python)
        mkdir -p "$venv"
        echo "$root" >"$mark"
        "$python" -m venv "$venv" || die "$python -m venv failed; on Debian and Ubuntu: apt install python3-venv"
    elif ! works "$venv/bin/python"; then
        die "$venv is not a virtual environment of Python 3.11 to 3.13 with pip; move it away and run this again"
    fi
}

find_python() {
    local python without_venv=
    for python in python3.13 python3.12 python3.11 python3; do
        if fits "$python"; then
            "$python" -c 'import venv, ensurepip' 2>/dev/null && echo "$python" && return
            without_venv=$python
        fi
    done
    [[ -z $without_venv ]] || die "$without_venv has no venv module; on Debian and Ubuntu: apt install python3-venv"
    die "no Python 3.11, 3.12 or 3.13 found (TensorFlow needs one of them); on Debian and Ubuntu: apt install python3 python3-venv"
}

fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; }

works() { fits "$1" && [[ $("$1" -c 'import sys; print(sys.prefix)') -ef $venv ]] && "$1" -m pip --version >/dev/null 2>&1; }

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }

pip_install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$root/scripts/constraints.txt" "$@" ||
        die "the installation failed, see above; running the command again continues it"
}

say() { echo "gantrain: $*" >&2; }

die() {
    say "$@"
    exit 2
}
