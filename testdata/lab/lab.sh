#!/bin/bash
# Four nodes on one machine: see README.md. Usage: lab.sh engine | image | up | wait NODE… | down |
# shell NODE | exec NODE COMMAND…
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=$root/bin/lab            # kept: the node image's file system, by the hash of its recipe; keys
mark=cluster-watchdog-lab      # label of all that is ours; nothing else is touched
nodes=(1 2 3 4)
server=${LAB_SERVER:-$here/server} # the Go program that plays the server

# shellcheck source=lib/engine.sh
. "$here/lib/engine.sh"
# shellcheck source=lib/image.sh
. "$here/lib/image.sh"
# shellcheck source=lib/nodes.sh
. "$here/lib/nodes.sh"

say() { printf 'lab: %s\n' "$*" >&2; }

die() {
	say "$@"
	exit 1
}

# LAB=2 is a second lab beside the first, and so on.
case ${LAB:-1} in
1) lab=cwlab subnet=172.31.77 ;;
[2-4]) lab=cwlab$LAB subnet=172.31.$((76 + LAB)) ;;
*) die "there is no lab ${LAB}: 1 to 4" ;;
esac
label=$mark=$lab

# alone lets one run at a time change the lab; the lock ends with this process.
alone() {
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock -n 9 || { say "another run changes the lab, waiting for it"; flock 9; }
}

# node_of NAME: its container. node2 and 2 are both fine.
node_of() {
	case ${1#node} in
	[1-4]) echo "$lab-node${1#node}" ;;
	*) die "there is no $1: nodes are node1 to node4" ;;
	esac
}

# all FUNCTION NUMBER…: runs it for each number at once; fails when one fails.
all() {
	local function=$1 number job jobs=() status=0
	shift
	for number in "$@"; do
		"$function" "$number" 9>&- &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do wait "$job" || status=1; done
	return $status
}

case ${1:-} in
engine) alone; need_engine_packages; start_engine ;;
image) alone; need_engine; make_image ;;
up) alone; need_engine; make_image; remove_all "$label"; remove_old_images; up ;;
wait) shift; for name in "$@"; do container=$(node_of "$name"); wait_ready "${container##*-node}"; done ;;
down) alone; ! engine_answers || remove_all "$mark"; [ "${ENGINE:-0}" != 1 ] || stop_engine ;;
shell) container=$(node_of "${2:-node1}"); exec docker exec -it "$container" bash -l ;;
exec) container=$(node_of "${2:?node}"); shift 2; exec docker exec -i "$container" "$@" ;;
*) sed -n '2,3s/^# //p' "$0"; exit 2 ;;
esac
