#!/usr/bin/env bash
# The training benchmarks on a GPU, in one short run: benchmarks/gpu.sh [folder with GLUE]
# First that it computes what the processor computes, then the times, then their table.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
glue=${1:-../shared/glue}
if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
    echo "no GPU at hand: nothing was measured"
    exit 0
fi
"$python" benchmarks/gpu_equality.py --data-dir "$glue"
for name in gate_step acl_epoch stage_two; do
    "$python" "benchmarks/$name.py" --data-dir "$glue"
done
"$python" benchmarks/page.py
