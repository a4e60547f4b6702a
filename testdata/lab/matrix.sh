#!/bin/bash
# The matrix: every fault at every moment, in LABS labs side by side (3), and MATRIX.md of it. Takes an
# hour or two. Usage: matrix.sh [CELLS]; with a pattern only those cells, "ten": those of .ci/run,
# which write no MATRIX.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cells=${1:-} labs=${LABS:-3} status=0 jobs=()
results=bin/lab/matrix.jsonl
[ "$cells" != ten ] || results=bin/lab/matrix-ten.jsonl

mkdir -p bin/lab
case $cells in '' | ten) rm -f "$results" ;; esac
go test -tags lab -c -o bin/lab/accept.test ./testdata/lab/accept/
for lab in $(seq "$labs"); do LAB=$lab testdata/lab/lab.sh up; done

# play LAB TESTS LABS CELLS: that lab's share.
play() {
	(cd testdata/lab/accept && LAB=$1 ../../../bin/lab/accept.test -test.v -test.timeout 4h -test.run "$2" \
		-shard "$1/$3" -cells "$4" -results "../../../$results") >"bin/lab/matrix-$1.log" 2>&1
}

for lab in $(seq "$labs"); do
	tests='^TestMatrix$'
	[ "$lab" -gt 1 ] || [ -n "$cells" ] || tests='^TestMatrix(People)?$'
	play "$lab" "$tests" "$labs" "$cells" &
	jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || status=1; done

# Real clocks on a machine that others use too: of the ten, what failed is played once more, alone.
if [ $status -ne 0 ] && [ "$cells" = ten ]; then
	cat bin/lab/matrix-[1-4].log
	failed=$({ grep -v '"Verdict":"as expected"' "$results" || true; } | sed 's/.*"Cell":"\([^"]*\)".*/\1/' | paste -sd '|')
	if [ -n "$failed" ]; then
		echo "lab: once more, alone: $failed"
		status=0
		LAB=1 testdata/lab/lab.sh up
		play 1 '^TestMatrix$' 1 "^($failed)\$" || status=1
	fi
fi

if [ $status -eq 0 ]; then
	echo "$(cat bin/lab/matrix-[1-4].log | grep -cE '^ +--- PASS') cells as expected"
else
	cat bin/lab/matrix-[1-4].log
fi
[ "$cells" = ten ] || go test -tags lab -count=1 ./testdata/lab/accept/ -run '^TestMatrixReport$' -results "$PWD/$results" -report "$PWD/testdata/lab/MATRIX.md"
exit $status
