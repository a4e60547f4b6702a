#!/bin/sh
# Starts one rank of a vLLM group over Ray: a Ray head with the API server in it, and Ray nodes that
# join it. The same file lies on every node, as ~/launch.sh; the config of the watchdog says
#
#     launch:
#       command: sh ~/launch.sh
#       order: head-first
#
# The watchdog sets WATCHDOG_CONTAINER, WATCHDOG_ROLE and WATCHDOG_HEAD_ADDR. By hand, the head
# first, then each worker:
#
#     WATCHDOG_CONTAINER=vllm WATCHDOG_ROLE=worker WATCHDOG_HEAD_ADDR=10.0.0.10 sh launch.sh
set -eu

# What you change.
nodes=4                        # = number of nodes in the config of the watchdog
image=local/vllm-ray:0.19.1    # vLLM with Ray in it (README.md); a fixed tag, the same everywhere
models=/mnt/models             # the shared mount; the watchdog checks it before it acts
model=/models/my-model         # as the container sees it
served=my-model                # the name that clients use
api_port=8000
ray_port=6379                  # of the Ray head; both belong into settle.ports of the config
patience=600                   # seconds that one side waits for the other before its container ends
cache=$HOME/.cache/vllm        # compiled kernels: kept, else each boot compiles again

# The address by which the head reaches this node: Ray and NCCL must agree on the network.
host_ip=$(ip -o route get "$WATCHDOG_HEAD_ADDR" | sed -n 's/.* src \([^ ]*\).*/\1/p')

mkdir -p "$cache"

# What runs in the container. Values come by its environment. Each ends in exec: the container ends
# with the one process whose end is the end of its rank, and its log is that of the engine.
# shellcheck disable=SC2016 # for the shell in the container
head='
ray start --head --node-ip-address "$VLLM_HOST_IP" --port "$RAY_PORT" --disable-usage-stats
python3 - <<END
import os, sys, time, ray
ray.init(address="auto", log_to_driver=False)
wanted, deadline = int(os.environ["NODES"]), time.monotonic() + float(os.environ["PATIENCE"])
while (here := sum(node["Alive"] for node in ray.nodes())) < wanted:
    if time.monotonic() > deadline:
        sys.exit(f"only {here} of {wanted} Ray nodes have joined")
    time.sleep(2)
END
exec vllm serve "$@"
'
# shellcheck disable=SC2016 # for the shell in the container
worker='
tries=0
until python3 -c "import os, socket; socket.create_connection((os.environ[\"RAY_HEAD\"], int(os.environ[\"RAY_PORT\"])), 2)" 2>/dev/null; do
	tries=$((tries + 2))
	[ "$tries" -lt "$PATIENCE" ] || { echo "no Ray head at $RAY_HEAD:$RAY_PORT" >&2; exit 1; }
	sleep 2
done
exec ray start --block --address "$RAY_HEAD:$RAY_PORT" --node-ip-address "$VLLM_HOST_IP" --disable-usage-stats
'

case $WATCHDOG_ROLE in
head)
	inside=$head
	set -- "$model" --served-model-name "$served" --host 0.0.0.0 --port "$api_port" \
		--distributed-executor-backend ray --tensor-parallel-size "$nodes"
	;;
worker)
	inside=$worker
	set --
	;;
*)
	echo "WATCHDOG_ROLE must be head or worker, not $WATCHDOG_ROLE" >&2
	exit 2
	;;
esac

# It returns as soon as the container runs: who waits for whom waits inside, where a death is seen.
# --restart no: the watchdog restarts the group; a Ray node that Docker restarts joins nothing.
# No --rm: the log of a dead rank must be there to be preserved.
# --init: reaps the many children of Ray. --ipc host: Ray's object store lives in /dev/shm.
# InfiniBand or RoCE wants --device /dev/infiniband too.
exec docker run -d \
	--name "$WATCHDOG_CONTAINER" \
	--restart no \
	--init \
	--gpus all \
	--network host \
	--ipc host \
	--ulimit memlock=-1 \
	--ulimit nofile=65536 \
	--volume "$models:/models:ro" \
	--volume "$cache:/root/.cache/vllm" \
	--env "VLLM_HOST_IP=$host_ip" \
	--env "RAY_HEAD=$WATCHDOG_HEAD_ADDR" \
	--env "RAY_PORT=$ray_port" \
	--env "NODES=$nodes" \
	--env "PATIENCE=$patience" \
	--entrypoint /bin/sh \
	"$image" \
	-euc "$inside" rank "$@"
