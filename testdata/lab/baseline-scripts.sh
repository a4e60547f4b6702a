#!/bin/bash
# The restart of baseline.sh with the very scripts that the watchdog runs on the nodes: the same work,
# by bash and ssh, one script and one node after the other. It runs as ops on node1.
# Usage: baseline-scripts.sh FOLDER (of the scripts); prints the milliseconds from decision to last launch
set -euo pipefail
cd "${1:?the folder of the scripts}"

nodes=(node1 node2 node3 node4) # in rank order; the first is the head, and this machine
# shellcheck disable=SC2016 # for the node's shell
common=(WATCHDOG_CONTAINER=vllm WATCHDOG_GROUP=llm WATCHDOG_MAX_BYTES=67108864
	WATCHDOG_MOUNT=/shared WATCHDOG_FSTYPE=fuse.faultfs WATCHDOG_SENTINEL=/shared/.present
	WATCHDOG_IMAGE=lab-vllm:1 WATCHDOG_DISK_PATH=/var/lib/docker WATCHDOG_DISK_MIN=1073741824
	WATCHDOG_STOP_SECONDS=1 WATCHDOG_WAIT=12 WATCHDOG_MEM_FLOOR= WATCHDOG_PORTS='8000 29500'
	WATCHDOG_FLUSHER_SECONDS=120 WATCHDOG_FLUSHER_EVERY=6
	WATCHDOG_HEAD_ADDR=172.31.77.11 WATCHDOG_TIMEOUT=60 WATCHDOG_COMMAND='bash ~/launch.sh "$WATCHDOG_RANK"')
ids=() # of the containers, by rank

# text SCRIPT NAME=VALUE…: what a node's shell reads.
text() {
	local script=$1
	shift
	printf '{\nexport LC_ALL=C'
	printf ' %q' "$@"
	printf '\n(\nset -eu\n'
	cat front.sh "$script.sh"
	printf '\n) </dev/null\nexit $?\n}\n'
}

# run RANK SCRIPT: the head needs no ssh.
run() {
	local rank=$1 role=worker to=(ssh -o BatchMode=yes -o ConnectTimeout=5 "${nodes[$1]}")
	[ "$rank" != 0 ] || { role=head to=(); }
	text "$2" "${common[@]}" WATCHDOG_ID="${ids[rank]}" WATCHDOG_RANK="$rank" WATCHDOG_NODE="${nodes[rank]}" WATCHDOG_ROLE="$role" |
		"${to[@]}" sh -s
}

everywhere() {
	local rank script
	for rank in "${!nodes[@]}"; do
		for script in "$@"; do
			run "$rank" "$script" >>"$folder/said"
		done
	done
}

launch() { ids[$1]=$(run "$1" launch/launch | sed -n 's/^id=//p'); }

milliseconds() { echo $((${EPOCHREALTIME/[^0-9]/} / 1000)); }

# What a look before the decision knows.
for node in "${nodes[@]}"; do
	ids+=("$(ssh -n -o BatchMode=yes "$node" "docker inspect --format '{{.Id}}' vllm")")
done
folder=$(mktemp -d)
began=$(milliseconds)
everywhere preserve/logs preserve/inspect
everywhere check/shell check/docker check/mount check/image check/sudo check/disk check/identity
everywhere destroy/remove destroy/gone
everywhere settle/flusher settle/memory
run 0 settle/ports
everywhere settle/orphans
for rank in 1 2 3 0; do launch "$rank"; done
everywhere launch/verify
echo $(($(milliseconds) - began))
rm -r "$folder"
