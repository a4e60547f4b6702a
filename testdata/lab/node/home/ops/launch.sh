#!/bin/bash
# Starts one rank, as a user's own launch script does. Rank and head come from the watchdog or, by
# hand, the rank as argument. Words in /var/lib/lab/docker-args and server-args are added.
set -euo pipefail
rank=${WATCHDOG_RANK:-${1:?rank}}
head=${WATCHDOG_HEAD_ADDR:-$(getent hosts node1 | awk 'NR == 1 { print $1 }')}
read -r -d '' -a docker_args < <(cat /var/lib/lab/docker-args 2>/dev/null) || true
read -r -d '' -a server_args < <(cat /var/lib/lab/server-args 2>/dev/null) || true
[ "$rank" = 0 ] || server_args+=(--headless)

exec docker run -d --name "${WATCHDOG_CONTAINER:-vllm}" --network host --restart no \
	-v /var/lib/lab:/lab -e HF_TOKEN=secret-value "${docker_args[@]}" \
	lab-vllm:1 serve --nnodes 4 --node-rank "$rank" --master-addr "$head" "${server_args[@]}"
