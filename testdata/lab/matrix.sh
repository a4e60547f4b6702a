#!/bin/bash
# The matrix: every fault at every moment, in LABS labs side by side (3), and MATRIX.md of it. Takes an
# hour or two. Usage: matrix.sh [CELLS]; with a pattern only those cells, "ten": those of .ci/run,
# which write no MATRIX.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cells=${1:-} labs=${LABS:-3} status=0 jobs=()
results=bin/lab/matrix.jsonl

mkdir -p bin/lab
[ -n "$cells" ] || rm -f "$results"
go test -tags lab -c -o bin/lab/accept.test ./testdata/lab/accept/
for lab in $(seq "$labs"); do LAB=$lab testdata/lab/lab.sh up; done

# play LAB PATTERN: that lab's share.
play() {
	(cd testdata/lab/accept && LAB=$1 ../../../bin/lab/accept.test -test.v -test.timeout 4h -test.run "$2" \
		-shard "$1/$labs" -cells "$cells" -results "../../../$results") >"bin/lab/matrix-$1.log" 2>&1
}

for lab in $(seq "$labs"); do
	tests='^TestMatrix$'
	[ "$lab" -gt 1 ] || [ -n "$cells" ] || tests='^TestMatrix(People)?$'
	play "$lab" "$tests" &
	jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || status=1; done

if [ $status -eq 0 ]; then
	echo "$(cat bin/lab/matrix-[1-4].log | grep -cE '^ +--- PASS') cells as expected"
else
	cat bin/lab/matrix-[1-4].log
fi
[ "$cells" = ten ] || go test -tags lab -count=1 ./testdata/lab/accept/ -run '^TestMatrixReport$' -results "$PWD/$results" -report "$PWD/testdata/lab/MATRIX.md"
exit $status
