#!/usr/bin/env bash
# Installs the wheel $WARPGRIND_PACKAGE into an environment of its own, and adds its commands to PATH for the steps that follow.
set -euo pipefail

environment=$RUNNER_TEMP/warpgrind
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check -- "$WARPGRIND_PACKAGE"
# Only the command: Python and pip of the environment are not meant to stand before those of the tests.
mkdir -p "$environment/path"
ln -sf ../bin/warpgrind "$environment/path/warpgrind"
echo "$environment/path" >> "$GITHUB_PATH"
"$environment/path/warpgrind" --version
