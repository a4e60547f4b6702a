#!/bin/bash
# The restart of baseline.sh with the very scripts that the watchdog runs on the nodes, by bash and ssh. It
# runs as ops on node1.
# Usage: baseline-scripts.sh FOLDER (of the scripts) in-turn | chain
#   in-turn  one script and one node after the other; prints the milliseconds from decision to last launch
#   chain    all nodes at once where nothing forces one to wait for another; prints the milliseconds of the
#            longest chain: for each such stretch what its slowest node took by its own clock, added up
set -euo pipefail
how=${2:-}
case $how in in-turn | chain) ;; *) sed -n '2,8s/^# //p' "$0"; exit 2 ;; esac
cd "${1:?the folder of the scripts}"

nodes=(node1 node2 node3 node4) # in rank order; the first is the head, and this machine
claim=$(cat ~/.local/state/cluster-watchdog/node1/claims/llm) # as the watchdog wrote it
# shellcheck disable=SC2016 # for the node's shell
common=(WATCHDOG_CONTAINER=vllm WATCHDOG_GROUP=llm "WATCHDOG_HEAD_ID=$(sed -n "s/^head=//p" <<<"$claim")" WATCHDOG_STATE_DIR=/var/lib/cluster-watchdog "WATCHDOG_CLAIM=$claim" WATCHDOG_TAKE_OVER= WATCHDOG_MAX_BYTES=67108864
	WATCHDOG_MOUNT=/shared WATCHDOG_FSTYPE=fuse.faultfs WATCHDOG_SENTINEL=/shared/.present
	WATCHDOG_IMAGE=lab-vllm:1 WATCHDOG_DISK_PATH=/var/lib/docker WATCHDOG_DISK_MIN=1073741824
	WATCHDOG_STOP_SECONDS=1 WATCHDOG_WAIT=12 WATCHDOG_MEM_FLOOR= WATCHDOG_PORTS='8000 29500'
	WATCHDOG_FLUSHER_SECONDS=120 WATCHDOG_FLUSHER_EVERY=6
	WATCHDOG_HEAD_ADDR=172.31.77.11 WATCHDOG_TIMEOUT=60 WATCHDOG_COMMAND='bash ~/launch.sh "$WATCHDOG_RANK"')
ids=() # of the containers, by rank

# text SCRIPT NAME=VALUE…: what a node's shell reads; it prints last how long it took.
# shellcheck disable=SC2016 # for the node's shell
text() {
	local script=$1 word
	shift
	printf '{\nbegan=$(date +%%s%%N)\nexport LC_ALL=C'
	for word in "$@"; do printf " %s='%s'" "${word%%=*}" "${word#*=}"; done # no value holds a quote
	printf '\n(\nset -eu\n'
	cat front.sh "$script.sh"
	printf '\n) </dev/null\nstatus=$?\necho took=$(($(date +%%s%%N) - began))\nexit $status\n}\n'
}

# run RANK SCRIPT: the head needs no ssh.
run() {
	local rank=$1 role=worker to=(ssh -o BatchMode=yes -o ConnectTimeout=5 "${nodes[$1]}")
	[ "$rank" != 0 ] || { role=head to=(); }
	text "$2" "${common[@]}" WATCHDOG_ID="${ids[rank]}" WATCHDOG_RANK="$rank" WATCHDOG_NODE="${nodes[rank]}" WATCHDOG_ROLE="$role" |
		"${to[@]}" sh -s >"$folder/out-$rank"
	sed -n 's/^took=//p' "$folder/out-$rank" >>"$folder/took-$rank"
	cat "$folder/out-$rank"
}

# scripts RANK SCRIPT…: one after the other; what they say is kept.
scripts() {
	local rank=$1 script
	shift
	for script in "$@"; do
		if [ "$script" = launch/launch ]; then
			run "$rank" "$script" | sed -n 's/^id=//p' >"$folder/launched-$rank"
		else
			run "$rank" "$script" >>"$folder/said-$rank"
		fi
	done
}

# stretch RANKS SCRIPT…: what nothing but its own chain holds up on each of these nodes.
stretch() {
	local ranks=$1 rank job jobs=() slowest
	shift
	rm -f "$folder"/took-*
	for rank in $ranks; do
		if [ "$how" = in-turn ]; then
			scripts "$rank" "$@"
		else
			scripts "$rank" "$@" &
			jobs+=($!)
		fi
	done
	for job in "${jobs[@]}"; do wait "$job"; done
	slowest=$(for rank in $ranks; do awk '{ sum += $1 } END { printf "%d\n", sum }' "$folder/took-$rank"; done | sort -n | tail -n 1)
	chain=$((chain + slowest))
}

milliseconds() { echo $((${EPOCHREALTIME/[^0-9]/} / 1000)); }

# What a look before the decision knows.
for node in "${nodes[@]}"; do
	ids+=("$(ssh -n -o BatchMode=yes "$node" "docker inspect --format '{{.Id}}' vllm")")
done
folder=$(mktemp -d)
chain=0
all='0 1 2 3'
began=$(milliseconds)
stretch "$all" preserve/logs preserve/inspect
stretch "$all" check/shell check/docker check/mount check/image check/sudo check/disk check/claim check/identity
stretch "$all" claim/claim
for script in destroy/remove destroy/gone settle/flusher settle/memory; do stretch "$all" "$script"; done
stretch 0 settle/ports
stretch "$all" settle/orphans
stretch '1 2 3' launch/launch
stretch 0 launch/launch
for rank in $all; do ids[rank]=$(cat "$folder/launched-$rank"); done
stretch "$all" launch/verify
took=$(($(milliseconds) - began))
[ "$how" = in-turn ] || took=$((chain / 1000000))
echo "$took"
rm -r "$folder"
