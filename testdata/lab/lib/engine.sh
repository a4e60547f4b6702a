# shellcheck shell=bash disable=SC2154 # names are set in lab.sh
# The Docker Engine on this machine: one that runs already, or one that we start and end.

engine_home=/var/lib/cluster-watchdog-lab # data and pid of an engine of ours
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

engine_answers() { command -v docker >/dev/null && timeout 20 docker info >/dev/null 2>&1; }

need_engine() {
	engine_answers || die "no Docker Engine answers: start yours (and be in the group docker), or run make lab-engine on Debian"
	local security
	security=$(docker info --format '{{json .SecurityOptions}}')
	case $security in
	*rootless* | *userns*) die "the Docker Engine runs rootless or with userns-remap: nodes with systemd inside need a plain one" ;;
	esac
	[ -e /dev/fuse ] || die "there is no /dev/fuse, which the shared mount needs: modprobe fuse"
}

# Installs what is missing, from the machine's own sources.
need_engine_packages() {
	local program missing=()
	engine_answers || command -v dockerd >/dev/null || missing+=(docker.io)
	engine_answers || command -v iptables >/dev/null || missing+=(iptables)
	command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
	for program in make tar flock ssh-keygen; do
		command -v "$program" >/dev/null || case $program in
		ssh-keygen) missing+=(openssh-client) ;;
		flock) missing+=(util-linux) ;;
		*) missing+=("$program") ;;
		esac
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null ||
		die "this machine is not Debian or Ubuntu: it needs a running Docker Engine, and mmdebstrap for the node image (missing: ${missing[*]})"
	say "installing ${missing[*]}"
	apt_get update
	# Newer releases keep the client in a package of its own.
	case " ${missing[*]} " in
	*" docker.io "*) [ -z "$(apt-cache madison docker-cli)" ] || missing+=(docker-cli) ;;
	esac
	apt_get install -y --no-install-recommends "${missing[@]}"
}

apt_get() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >/dev/null
}

# Starts an engine where none answers. Its only network is the lab's, so it forwards and masks nothing.
start_engine() {
	if engine_answers; then
		say "a Docker Engine answers: $(docker version --format '{{.Server.Version}}')"
		return
	fi
	if [ -d "$engine_home" ]; then # one of ours that was killed; its pid may be another process's by now
		is_ours "$(engine_pid)" || "${as_root[@]}" rm -f "$engine_home/dockerd.pid"
	elif [ -n "$(docker_chains iptables filter)" ]; then
		die "no Docker Engine answers, but its iptables rules are here: start that engine instead"
	fi
	"${as_root[@]}" mkdir -p "$engine_home"
	# shellcheck disable=SC2016 # expanded by the inner shell
	"${as_root[@]}" sh -c 'exec setsid nohup dockerd --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/dockerd.pid" \
		--cgroup-parent cwlab --bridge none --ip-forward=false --ip-masq=false >"$1/dockerd.log" 2>&1 </dev/null 9>&- &' \
		sh "$engine_home"
	local tries
	for tries in $(seq 150); do
		if engine_answers; then
			say "started a Docker Engine: $(docker version --format '{{.Server.Version}}'); make lab-down ENGINE=1 ends it"
			return
		fi
		sleep 0.2
	done
	tail -n 20 "$engine_home/dockerd.log" >&2 || true
	die "dockerd does not answer after $((tries / 5)) s; its last lines are above, from $engine_home/dockerd.log"
}

# Ends the engine that we started, and undoes what it did to the machine.
stop_engine() {
	local pid
	pid=$(engine_pid)
	if [ -d "$engine_home" ]; then
		if is_ours "$pid"; then
			"${as_root[@]}" kill "$pid"
			for _ in $(seq 150); do
				is_ours "$pid" || break
				sleep 0.1
			done
			! is_ours "$pid" || die "dockerd (pid $pid) does not end; see $engine_home/dockerd.log"
		fi
		remove_rules
		awk -v home="$engine_home/" 'index($2, home) == 1 { print $2 }' /proc/mounts | sort -r |
			while read -r dir; do "${as_root[@]}" umount -l "$dir"; done
		find /sys/fs/cgroup -depth -type d -path '*/cwlab*' -exec "${as_root[@]}" rmdir {} \; 2>/dev/null || true
		"${as_root[@]}" rm -rf "$engine_home"
		say "ended the Docker Engine"
	else
		say "no Docker Engine was started by make lab-engine"
	fi
}

engine_pid() { "${as_root[@]}" cat "$engine_home/dockerd.pid" 2>/dev/null || true; }

# is_ours PID: a dockerd with our data, not another process that got the number.
is_ours() {
	[ -n "$1" ] && tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF -- "--data-root $engine_home/data"
}

# docker_chains PROGRAM TABLE
docker_chains() {
	"${as_root[@]}" "$1" -t "$2" -S 2>/dev/null | sed -n 's/^-N \(DOCKER[A-Z0-9-]*\)$/\1/p'
}

# The rules of an engine that came where there were none.
remove_rules() {
	local program table chain chains
	for program in iptables ip6tables; do
		for table in filter nat raw; do
			chains=$(docker_chains "$program" "$table")
			[ -n "$chains" ] || continue
			"${as_root[@]}" "$program" -t "$table" -S | sed -n '/^-A DOCKER/d; s/^-A \(.* -j DOCKER.*\)/-D \1/p' |
				xargs -r -L 1 "${as_root[@]}" "$program" -t "$table"
			for chain in $chains; do "${as_root[@]}" "$program" -t "$table" -F "$chain"; done
			for chain in $chains; do "${as_root[@]}" "$program" -t "$table" -X "$chain"; done
		done
	done
}
