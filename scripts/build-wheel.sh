#!/usr/bin/env bash
# build-wheel.sh: build dist/*.whl with the browser client inside, and next to it the list of its dependencies (CycloneDX), in a
# separate environment. For the list, pip resolves the wheel with its extras and installs nothing; from version 25
# on it reports licences too.
set -euo pipefail
cd "$(dirname "$0")/.."
built=src/tellmore/app/static/index.html
if [ ! -f $built ] || [ -n "$(find web -type f -newer $built -not -path '*/node_modules/*' -not -name schemas.ts | head -1)" ]; then
    scripts/build-client.sh bundle
fi
scripts/environment.sh .make/build
.make/build/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build hatchling packaging 'pip>=25'
rm -rf dist
.make/build/bin/python -m build --quiet --wheel --no-isolation --outdir dist .
wheel=$(ls dist/*.whl)
.make/build/bin/python -m pip install --dry-run --ignore-installed --report .make/report.json \
    --quiet --quiet --disable-pip-version-check -c constraints.txt "$wheel[all]"
.make/build/bin/python scripts/write_sbom.py "${wheel%.whl}.cdx.json" .make/report.json
ls -l dist/*
