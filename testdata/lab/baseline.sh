#!/bin/bash
# What people use where there is no watchdog, to compare ours with: bash, ssh and curl, one node after
# the other. It runs as ops on node1.
# Usage: baseline.sh restart | look
#   restart  saves logs, checks, removes, launches; prints the milliseconds from its start, which is the
#            decision, to the last launch
#   look     asks what a healthy tick asks, and fails where something is not healthy
set -euo pipefail

workers=(node2 node3 node4)
nodes=(node1 "${workers[@]}") # in rank order; the first is the head, and this machine
container=vllm
sentinel=/shared/.present
url=http://172.31.77.11:8000

fail() {
	printf 'baseline: %s\n' "$*" >&2
	exit 1
}

# on NODE COMMAND: the head needs no ssh.
on() {
	if [ "$1" = "${nodes[0]}" ]; then
		bash -c "$2" </dev/null
	else
		ssh -n -o BatchMode=yes -o ConnectTimeout=5 "$1" "$2"
	fi
}

milliseconds() { echo $((${EPOCHREALTIME/[^0-9]/} / 1000)); }

save_logs() {
	local folder=$1 node
	for node in "${nodes[@]}"; do
		on "$node" "timeout 12 docker logs --timestamps --tail 50000 $container 2>&1" >"$folder/$node.log"
		on "$node" "timeout 10 docker inspect $container" >"$folder/$node.json"
	done
}

check() {
	local node
	for node in "${nodes[@]}"; do
		on "$node" true || fail "$node cannot be reached"
		on "$node" "timeout 10 docker ps -q >/dev/null" || fail "Docker on $node does not answer"
		on "$node" "timeout -k 1 8 head -c 1 $sentinel >/dev/null" || fail "the mount on $node does not answer"
	done
}

remove() {
	local node
	for node in "${nodes[@]}"; do
		on "$node" "docker rm -f $container >/dev/null"
	done
}

# The loop ends by itself; it holds nothing of the session.
flusher="sync; echo 3 | sudo -n /usr/bin/tee /proc/sys/vm/drop_caches >/dev/null
setsid bash -c 'for _ in {1..20}; do sleep 6; sync; echo 3 | sudo -n /usr/bin/tee /proc/sys/vm/drop_caches; done' baseline-flusher </dev/null >/dev/null 2>&1 &"

flush() {
	local node
	for node in "${nodes[@]}"; do
		on "$node" "$flusher"
	done
}

launch() {
	local rank
	for ((rank = 1; rank < ${#nodes[@]}; rank++)); do
		on "${nodes[rank]}" "bash ~/launch.sh $rank >/dev/null"
	done
	on "${nodes[0]}" "bash ~/launch.sh 0 >/dev/null"
}

restart() {
	local began folder
	began=$(milliseconds)
	folder=$(mktemp -d)
	save_logs "$folder"
	check
	remove
	flush
	launch
	echo $(($(milliseconds) - began))
	rm -r "$folder"
}

# One login for all that is asked of a node.
ask="docker inspect --type container --format '{{.State.Status}} {{.Id}} {{.State.StartedAt}} {{.RestartCount}}' $container
now=\$(date +%s.%N)
docker events --since 10s --until \"\$now\" --format '{{json .}}'"

look() {
	local node said model before after
	for node in "${nodes[@]}"; do
		said=$(on "$node" "$ask") || fail "$node does not answer"
		[[ $said == running\ * ]] || fail "the rank on $node is ${said%% *}"
	done
	curl -sf -m 40 -o /dev/null "$url/health" || fail "not healthy"
	model=$(curl -sf -m 5 "$url/v1/models" | grep -oE '"id": ?"[^"]*"' | head -n 1 | cut -d '"' -f 4)
	before=$(curl -sf -m 4 "$url/metrics" | counters)
	said=$(curl -sf -m 30 -H 'Content-Type: application/json' "$url/v1/completions" \
		-d "{\"model\":\"$model\",\"prompt\":\"Hi\",\"max_tokens\":1,\"temperature\":0}") || fail "no completion"
	[[ $said == *'"choices"'* ]] || fail "no choices: $said"
	after=$(curl -sf -m 4 "$url/metrics" | counters)
	[ "$before" != "$after" ] || fail "the counters stand still"
	echo "served a completion"
}

counters() {
	grep -E '^vllm:(iteration_tokens_total_count|prompt_tokens_total|generation_tokens_total|num_requests_(running|waiting))'
}

case ${1:-} in
restart | look) "$1" ;;
*) sed -n '4,7s/^# //p' "$0"; exit 2 ;;
esac
