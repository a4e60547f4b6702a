#!/bin/sh
# Starts one rank of an SGLang group that spans several nodes. The same file lies on every node, as
# ~/launch.sh; the config of the watchdog says
#
#     command: sh ~/launch.sh
#
# The watchdog sets WATCHDOG_CONTAINER, WATCHDOG_RANK, WATCHDOG_ROLE and WATCHDOG_HEAD_ADDR. By
# hand, on node 1 of a group whose head is 10.0.0.10:
#
#     WATCHDOG_CONTAINER=sglang WATCHDOG_RANK=1 WATCHDOG_ROLE=worker WATCHDOG_HEAD_ADDR=10.0.0.10 sh launch.sh
set -eu

# What you change.
nodes=4                          # = number of nodes in the config of the watchdog
image=lmsysorg/sglang:v0.5.18    # a fixed tag, never latest: every node must run the same
models=/mnt/models               # the shared mount; the watchdog checks it before it acts
model=/models/my-model           # as the container sees it
served=my-model                  # the name that clients use
api_port=8000
init_port=20000                  # where the ranks meet, on the head
cache=$HOME/.cache/sglang        # compiled kernels: kept, else each boot compiles again

# The address by which the head reaches this node: on a node with several networks SGLang would
# have to guess, and a wrong guess hangs without a word.
host_ip=$(ip -o route get "$WATCHDOG_HEAD_ADDR" | sed -n 's/.* src \([^ ]*\).*/\1/p')

mkdir -p "$cache"

case $WATCHDOG_ROLE in
head) set -- --host 0.0.0.0 ;;
worker) set -- --host 127.0.0.1 ;; # a rank without the API answers /health alone: to nobody outside
*)
	echo "WATCHDOG_ROLE must be head or worker, not $WATCHDOG_ROLE" >&2
	exit 2
	;;
esac

# --enable-metrics: without its counters the watchdog cannot tell a busy engine from a stuck one,
# and takes 15 minutes in place of 6.
# --restart no: the watchdog restarts the group; Docker alone would restart one rank of it.
# No --rm: the log of a dead rank must be there to be preserved.
# --init: reaps the children that a dead engine leaves behind.
# --network host and --ipc host: NCCL and shared memory as without a container. InfiniBand or
# RoCE wants --device /dev/infiniband too.
exec docker run -d \
	--name "$WATCHDOG_CONTAINER" \
	--restart no \
	--init \
	--gpus all \
	--network host \
	--ipc host \
	--ulimit memlock=-1 \
	--volume "$models:/models:ro" \
	--volume "$cache:/root/.cache" \
	--env "SGLANG_HOST_IP=$host_ip" \
	"$image" \
	python3 -m sglang.launch_server \
	--model-path "$model" \
	--served-model-name "$served" \
	--tp-size "$nodes" \
	--nnodes "$nodes" \
	--node-rank "$WATCHDOG_RANK" \
	--dist-init-addr "$WATCHDOG_HEAD_ADDR:$init_port" \
	--port "$api_port" \
	--enable-metrics \
	"$@"
