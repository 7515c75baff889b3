#!/usr/bin/env bash
# build-wheel.sh: build dist/*.whl with the browser client inside, and beside it the list of what it runs on (CycloneDX), both in an
# environment of their own; for the list the wheel is installed there with its extras, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
built=src/tellmore/app/static/index.html
if [ ! -f $built ] || [ -n "$(find web -type f -newer $built -not -path '*/node_modules/*' -not -name schemas.ts | head -1)" ]; then
    scripts/build-client.sh bundle
fi
scripts/environment.sh .make/build
.make/build/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build hatchling
rm -rf dist
.make/build/bin/python -m build --quiet --wheel --no-isolation --outdir dist .
wheel=$(ls dist/*.whl)
.make/build/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "$wheel[all]"
.make/build/bin/python scripts/write_sbom.py "${wheel%.whl}.cdx.json"
ls -l dist/*
