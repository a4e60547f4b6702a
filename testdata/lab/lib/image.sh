# shellcheck shell=bash disable=SC2154 # names are set in lab.sh
# The node image: Debian packages (a minute, once), then our files over them (seconds). Each half is
# cached by the hash of all it is made of. make_image sets their names: image, and base without its prefix.

packages=(systemd systemd-sysv dbus libpam-systemd openssh-server openssh-client sudo docker.io
	iptables iproute2 iputils-ping netcat-openbsd curl procps kmod ca-certificates)

make_image() {
	command -v go >/dev/null || die "there is no go in PATH, which builds what the nodes run"
	compgen -G "$server/*.go" >/dev/null || die "there is no program in $server"
	local arch sources suite
	arch=$(docker version --format '{{.Server.Arch}}')
	read_sources
	base=$(printf '%s\n' "$sources" "$arch" "${packages[@]}" "$(declare -f make_base)" | hash_of)
	image=cwlab-node:$(printf '%s\n' "$base" "$(go version)" "$(declare -f make_node_image)" "$(tree_hash)" | hash_of)
	[ -z "$(docker image ls -q "$image")" ] || return 0
	[ -s "$cache/base-$base.tar" ] || make_base
	make_node_image
}

# remove_old_images removes what earlier recipes made.
remove_old_images() {
	local old
	for old in $(docker image ls --filter "label=$mark" --format '{{.Repository}}:{{.Tag}}'); do
		[ "$old" = "$image" ] || [ "$old" = "cwlab-base:$base" ] || docker image rm "$old" >/dev/null 2>&1 || true # someone uses it
	done
}

hash_of() { sha256sum | cut -c1-12; }

tree_hash() {
	find "$here/node" "$here/setup.sh" "$here/faultfs" "$server" -type f ! -name '*_test.go' -print0 | sort -z |
		xargs -0 sha256sum | sed "s|$here/||"
	find "$here/node" -type f -perm /111 -printf '%P\n' | sort
}

# read_sources sets suite and sources: what this machine installs from, of its own release only.
read_sources() {
	[ -r /etc/os-release ] || die "this machine has no /etc/os-release: the node image is built on Debian or Ubuntu"
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	sources=$(
		shopt -s nullglob
		for file in /etc/apt/sources.lis[t] /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
			case $file in
			*.sources) one_line_each "$file" ;;
			*) grep -hE '^deb ' "$file" | sed -E 's/\[[^]]*\] *//' || true ;;
			esac
		done | tr -s ' ' | grep -E "^deb [^ ]+ ${suite:-none}(-updates|-security)? .*\\<main\\>" | sort -u || true
	)
	[ -n "$sources" ] || die "this machine has no apt sources of a Debian or Ubuntu release: the node image is built from them, with mmdebstrap"
}

# one_line_each FILE: the entries of a deb822 file as lines "deb URI SUITE COMPONENT…".
one_line_each() {
	grep -v '^#' "$1" | awk -v RS= -F '\n' '{
		uris = suites = components = ""; enabled = 1
		for (i = 1; i <= NF; i++) {
			key = tolower($i); sub(/:.*/, "", key)
			value = $i; sub(/^[^:]*: */, "", value)
			if (key == "uris") uris = value
			if (key == "suites") suites = value
			if (key == "components") components = value
			if (key == "enabled" && tolower(value) == "no") enabled = 0
		}
		n = split(uris, u, " "); m = split(suites, s, " ")
		for (i = 1; enabled && i <= n; i++) for (j = 1; j <= m; j++) print "deb", u[i], s[j], components
	}'
}

# make_base makes base-HASH.tar with mmdebstrap.
make_base() {
	command -v mmdebstrap >/dev/null || die "there is no mmdebstrap, which builds the node image: make lab-engine installs it on Debian and Ubuntu"
	say "packages of the node image ($suite): about a minute, once"
	remove_half_built
	local include
	include=$(printf '%s,' "${packages[@]}")
	# Newer releases keep the client in a package of its own.
	[ -z "$(apt-cache madison docker-cli 2>/dev/null)" ] || include+=docker-cli
	mkdir -p "$cache/tmp"
	if ! TMPDIR=$cache/tmp mmdebstrap --variant=minbase --include="${include%,}" \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$suite" "$cache/tmp/base.tar" - <<<"$sources" >"$cache/mmdebstrap.log" 2>&1; then
		tail -n 20 "$cache/mmdebstrap.log" >&2
		die "mmdebstrap failed; its last lines are above, from $cache/mmdebstrap.log"
	fi
	rm -f "$cache"/base-*.tar
	mv "$cache/tmp/base.tar" "$cache/base-$base.tar"
}

# remove_half_built clears what a killed mmdebstrap left, mounts first.
remove_half_built() {
	awk -v dir="$cache/tmp/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r |
		while read -r dir; do umount -l "$dir"; done
	rm -rf --one-file-system "$cache/tmp"
}

# make_node_image lays our files over the packages, in a container that is then committed.
make_node_image() {
	say "the node image"
	local stage=$cache/stage base_image=cwlab-base:$base
	rm -rf "$stage"
	mkdir -p "$stage/usr/local/bin" "$stage/usr/local/lib/lab"
	cp -R "$here/node/." "$here/setup.sh" "$stage/"
	(cd "$here/faultfs" && CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$stage/usr/local/bin/faultfs" .)
	mkdir "$stage/server"
	(cd "$server" && CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$stage/server/vllm" .)
	tar_of_root -C "$stage/server" -f "$stage/usr/local/lib/lab/server.tar" vllm
	rm -r "$stage/server"

	[ -n "$(docker image ls -q "$base_image")" ] ||
		docker import --change "LABEL $mark=image" "$cache/base-$base.tar" "$base_image" >/dev/null
	docker rm -f cwlab-image >/dev/null 2>&1 || true
	docker create --name cwlab-image --label "$mark=image" --network none "$base_image" /bin/sh /setup.sh >/dev/null
	tar_of_root -C "$stage" . | docker cp - cwlab-image:/
	docker start -a cwlab-image
	docker commit --change 'CMD ["/lab-init"]' --change 'ENV container=docker' --change 'VOLUME /var/lib/docker' \
		cwlab-image "$image" >/dev/null
	docker rm cwlab-image >/dev/null
	rm -rf "$stage"
}

# tar_of_root packs as root's own, whatever the umask of the clone.
tar_of_root() { tar --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' -c "$@"; }
