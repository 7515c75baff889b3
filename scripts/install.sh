#!/usr/bin/env bash
# install.sh app|all|dev: create .venv if it is missing and install tellmore with that extra, with the versions in constraints.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
level=$1

scripts/environment.sh .venv
case $level in
    app) extras=app covers="app" ;;
    all) extras=all covers="app all" ;;
    dev) extras=all,dev covers="app all dev" ;;
    *) echo "usage: install.sh app|all|dev" >&2; exit 2 ;;
esac
echo "Installing tellmore[$extras] into .venv …"
.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$extras]"
mkdir -p .make
for one in $covers; do touch ".make/venv-$one"; done
