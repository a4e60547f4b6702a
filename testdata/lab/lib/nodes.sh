# shellcheck shell=bash disable=SC2154 # names are set in lab.sh
# The nodes: network, keys, containers, and the product on node1.

# Rights of a node: systemd, Docker and FUSE inside, but neither the machine's devices nor its clock.
rights=(--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt label=disable
	--security-opt systempaths=unconfined --cgroupns=private --device /dev/fuse)
for right in SYS_ADMIN NET_ADMIN DAC_READ_SEARCH SYS_PTRACE SYS_NICE SYS_BOOT; do
	rights+=(--cap-add "$right")
done

up() {
	local started=$SECONDS
	make_keys
	docker network create --label "$label" --internal --subnet "$subnet.0/24" \
		-o com.docker.network.bridge.name="$lab-br" "$lab" >/dev/null
	docker volume create --label "$label" "$lab-nas" >/dev/null
	all create_node "${nodes[@]}" || die "cannot create the nodes"
	all wait_ready "${nodes[@]}" || die "not all nodes came up"
	docker exec "$lab-node1" sh -c 'echo present >/srv/nas/.present'
	install_product
	say "node1 to node4 are up ($((SECONDS - started)) s)"
}

# remove_all LABEL removes all that carries it, also what a crashed run left: one lab, or every one.
remove_all() {
	local label=$1 found
	found=$(docker ps -aq --filter "label=$label")
	# shellcheck disable=SC2086 # one id a word
	[ -z "$found" ] || docker rm -f -v $found >/dev/null
	found=$(docker network ls -q --filter "label=$label")
	# shellcheck disable=SC2086
	[ -z "$found" ] || docker network rm $found >/dev/null
	found=$(docker volume ls -q --filter "label=$label")
	# shellcheck disable=SC2086
	[ -z "$found" ] || docker volume rm -f $found >/dev/null
}

fresh() {
	rm -rf "$1"
	mkdir -p "$1"
	echo "$1"
}

# make_keys makes, once: a host key for each node, a key for ops, and ops' known_hosts.
make_keys() {
	local keys=$cache/keys-$lab number
	mkdir -p "$keys"
	for number in ops "${nodes[@]}"; do
		[ -s "$keys/$number.pub" ] || { rm -f "$keys/$number"; ssh-keygen -q -t ed25519 -N '' -C "lab-$number" -f "$keys/$number"; }
	done
	for number in "${nodes[@]}"; do
		echo "node$number,$subnet.1$number $(cut -d ' ' -f 1,2 "$keys/$number.pub")"
	done >"$keys/known_hosts"
}

create_node() {
	local name=$lab-node$1 keys=$cache/keys-$lab stage number hosts=()
	for number in "${nodes[@]}"; do hosts+=(--add-host "node$number:$subnet.1$number"); done
	# A name that is not a node's is asked of the node itself, where no server answers.
	docker create --name "$name" --label "$label" --hostname "node$1" \
		--network "$lab" --ip "$subnet.1$1" --dns 127.0.0.1 --dns-opt timeout:1 --dns-opt attempts:1 "${hosts[@]}" "${rights[@]}" \
		--stop-signal SIGRTMIN+3 --tmpfs /run --tmpfs /run/lock --tmpfs /tmp \
		-v "$lab-nas:/srv/nas" "$image" 2>&1 >/dev/null | { grep -v '^WARNING' || true; } >&2

	stage=$(fresh "$cache/stage-$name")
	mkdir -p "$stage/etc/ssh" "$stage/home/ops/.ssh"
	install -m 0600 "$keys/$1" "$stage/etc/ssh/ssh_host_ed25519_key"
	install -m 0644 "$keys/$1.pub" "$stage/etc/ssh/ssh_host_ed25519_key.pub"
	(cd "$stage" && tar --owner=0 --group=0 -cf - etc/ssh/*) | docker cp - "$name:/"
	install -m 0600 "$keys/ops.pub" "$stage/home/ops/.ssh/authorized_keys"
	if [ "$1" = 1 ]; then
		install -m 0600 "$keys/ops" "$stage/home/ops/.ssh/id_ed25519"
		install -m 0644 "$keys/known_hosts" "$stage/home/ops/.ssh/known_hosts"
	fi
	(cd "$stage" && tar --owner=1000 --group=1000 -cf - home/ops/.ssh/*) | docker cp - "$name:/"
	rm -rf "$stage"
	docker start "$name" >/dev/null
}

# wait_ready waits until all units of the node are up: sshd, Docker, the server's image, /shared.
wait_ready() {
	local name=$lab-node$1 state=none deadline=$((SECONDS + 60))
	while [ "$SECONDS" -lt "$deadline" ]; do
		state=$(docker exec "$name" systemctl is-system-running --wait 2>/dev/null || true)
		case $state in
		running) return 0 ;;
		degraded) break ;;
		esac
		sleep 0.1
	done
	docker exec "$name" systemctl --no-pager --failed >&2 || docker logs --tail 20 "$name" >&2 || true
	say "node$1 is ${state:-unknown} instead of running"
	return 1
}

# install_product installs the package on node1 by the line that stands in README. The config comes after
# it, so that the timer is enabled and not started. /root/product stays, for the tests of that README.
install_product() {
	local product
	product=$(fresh "$cache/product-$lab")
	make -s -C "$root" deb >/dev/null
	mkdir -p "$product/root/product/bin"
	cp "$root/bin/watchdog" "$product/root/product/bin/"
	cp -R "$root/dist" "$product/root/product/"
	sed "s/172\.31\.77\./$subnet./" "$here/config.yaml" >"$product/root/product/config.yaml"
	if [ "${LONG:-0}" = 1 ]; then
		sed -i '/# tenth$/d' "$product/root/product/config.yaml"
	else
		install -D -m 0644 "$here/timer.conf" "$product/etc/systemd/system/cluster-watchdog.timer.d/lab.conf"
	fi
	install -D -m 0644 "$here/service.conf" "$product/etc/systemd/system/cluster-watchdog.service.d/lab.conf"
	tar_of_root -C "$product" . | docker cp - "$lab-node1:/"
	docker exec -w /root/product "$lab-node1" bash -c "$(readme_line 'sudo apt install')" >"$cache/install.log" 2>&1 || {
		cat "$cache/install.log" >&2
		die "cannot install the package on node1"
	}
	docker exec "$lab-node1" install -D -m 0644 /root/product/config.yaml /etc/cluster-watchdog/config.yaml
}

# readme_line WORDS: what README says to run on the head, in the line that holds WORDS.
readme_line() {
	local line
	line=$(sed -n '/^## Install it/,/^## Use it/p' "$root/README.md" | grep -m 1 -F "    make deb && $1") || die "README has no line with $1"
	echo "${line#*&& }"
}
