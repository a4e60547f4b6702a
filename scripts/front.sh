# Sent in front of every script: the few words they share.

# fail TEXT: tells people why, and ends the script.
fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

# ask_docker SECONDS ARGUMENTS: leaves the answer in $said. Returns 3 when Docker says that there
# is no such thing; a Docker that does not answer ends the script, it is never "nothing there".
ask_docker() {
	limit=$1
	shift
	rc=0
	# The outer redirection is for dash, which reports a killed timeout on stderr.
	{ said=$(timeout -k 1 "$limit" docker "$@" 2>&1 </dev/null); } 2>/dev/null || rc=$?
	case $rc in
	0) return 0 ;;
	124 | 137) fail "docker does not answer within $limit s: its daemon hangs; see journalctl -u docker on this node" ;;
	126 | 127) fail "docker: command not found by this user's shell; put it on the PATH of logins without a terminal" ;;
	esac
	case $said in
	*[Nn]"o such object"* | *[Nn]"o such container"* | *[Nn]"o such image"*) return 3 ;;
	*"permission denied"*) fail "docker: permission denied for this user; add it to the group docker and log in again" ;;
	*"Cannot connect"* | *"cannot connect"*) fail "docker: its daemon is not running; systemctl start docker on this node" ;;
	esac
	fail "docker $1 fails with exit code $rc: $(printf '%s\n' "$said" | tail -n 1)"
}

# value KEY: prints the value of the first line KEY=... in $said, whatever stands around it.
value() {
	printf '%s\n' "$said" | sed -n "s/^$1=//p" | head -n 1
}

# ask_container NAME_OR_ID: as ask_docker, for what we want to know of a container.
ask_container() {
	ask_docker 10 inspect --type container --format 'id={{.Id}}
name={{.Name}}
status={{.State.Status}}
started_at={{.State.StartedAt}}
restart_count={{.RestartCount}}
image={{.Image}}
exit_code={{.State.ExitCode}}
error={{.State.Error}}' "$1"
}

# ask_name NAME: the same by exact name; Docker itself also takes the beginning of an id for one.
ask_name() {
	ask_container "$1" || return $?
	[ "$(value name)" = "/$1" ] || return 3
}

# tell_container: prints what the head records of the container in $said.
tell_container() {
	for key in id started_at status image; do
		printf '%s=%s\n' "$key" "$(value "$key")"
	done
}

# file_name TEXT: prints TEXT as one part of a path.
file_name() {
	printf '%s' "$1" | sed 's/%/%25/g; s|/|%2F|g'
}

# node_folder: makes the user's own folder on this node and leaves its path in $node. The nodes may
# share their homes, so its name holds the node's. The home may lie on a mount that hangs: then the
# script ends, holds no session, and no second one waits beside the first.
node_folder() {
	[ -z "${node:-}" ] || return 0
	node=${XDG_CACHE_HOME:-$HOME/.cache}/cluster-watchdog/$(cat /proc/sys/kernel/hostname)
	limit=250 spent=0
	while home_waits; do
		pause || fail "the home of this user is hung: an earlier look still waits for $node; its server or network is gone"
	done
	touch -- "$node/.answers" >/dev/null 2>&1 & # to write asks the server, also where much is cached
	ends "$!" || fail "the home of this user is hung: no answer within 5 s about $node; its server or network is gone"
	wait "$!" || (umask 077 && mkdir -p -- "$node") || fail "cannot make folder $node"
}

# home_waits: whether an earlier look of node_folder still waits. No mark can be written where it hangs.
home_waits() {
	# shellcheck disable=SC2009 # pgrep takes the path for an expression
	ps -ww -u "$(id -u)" -o args= 2>/dev/null | grep -q -x -F -e "touch -- $node/.answers"
}

# own_folder: makes the user's own folder of the group, for two groups ask the same things at once,
# and leaves its path in $own.
own_folder() {
	node_folder
	own=$node/$(file_name "${WATCHDOG_GROUP:-}")
	(umask 077 && mkdir -p -- "$own") || fail "cannot make folder $own"
}

# claims_folder: leaves in $claims where heads write down that a group is theirs: a file for each. It
# is one per node as node_folder is, but outlives an emptied cache.
claims_folder() {
	node_folder
	claims=$HOME/.local/state/cluster-watchdog/$(cat /proc/sys/kernel/hostname)/claims
}

# read_claim FILE: leaves what a claim says in $group, $container, $head, $state_dir and $who.
read_claim() {
	group='' container='' head='' state_dir='' who=''
	while IFS='=' read -r key rest || [ -n "$key" ]; do
		case $key in
		group) group=$rest ;;
		container) container=$rest ;;
		head) head=$rest ;;
		state_dir) state_dir=$rest ;;
		who) who=$rest ;;
		esac
	done <"$1"
}

# claimed_by FILE HEAD STATE_DIR: whether the claim is there, and of this config of this head.
claimed_by() {
	[ -f "$1" ] || return 1
	read_claim "$1"
	[ "$head" = "$2" ] && [ "$state_dir" = "$3" ]
}

# other_claims GROUP CONTAINER HEAD STATE_DIR: prints the claims of others on the group or on the
# name of its container, each as its file, a tab and words. One that names no head is nobody's: a
# power cut can leave it empty. Needs claims_folder.
other_claims() {
	for claim in "$claims"/*; do
		if [ ! -f "$claim" ] || claimed_by "$claim" "$3" "$4" || [ -z "$head" ]; then continue; fi
		case $group:$container in
		"$1":*) what="group $group" ;;
		*:"$2") what="container name $container" ;;
		*) continue ;;
		esac
		if [ "$head" = "$3" ]; then who="group $group of this head, whose state_dir is $state_dir ($who)"; fi
		printf '%s\t%s is claimed by %s\n' "$claim" "$what" "$who"
	done
}

# refuse_claimed GROUP CONTAINER HEAD STATE_DIR: ends the script where others claim one of them.
refuse_claimed() {
	claims_folder
	others=$(other_claims "$1" "$2" "$3" "$4")
	[ -z "$others" ] ||
		fail "$(printf '%s\n' "$others" | awk -F '\t' '{ printf "%s%s", (NR == 1 ? "" : "; "), $2 }'): disarm that one, then \`cluster-watchdog arm --take-over\` makes it this one's"
}

# birth PID: prints when the process was started, in ticks since boot; nothing for a dead one.
# It tells a process from a later one with the same number.
birth() {
	awk '{ sub(/.*\) /, ""); if ($1 != "Z") print $20 }' "/proc/$1/stat" 2>/dev/null || :
}

# boot: prints which boot of this node this is: what was written down before it is of no meaning.
boot() {
	cat /proc/sys/kernel/random/boot_id
}

# remember FILE PID: writes down a process of ours.
remember() {
	printf '%s %s %s %s\n' "$2" "$(birth "$2")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(boot)" >"$1"
}

# alive FILE: whether the process written down there still lives; leaves $pid and $since.
alive() {
	pid='' born='' since='' booted=''
	if [ -r "$1" ]; then read -r pid born since booted <"$1" || :; fi
	[ -n "$born" ] && [ "$(birth "$pid")" = "$born" ] && [ "${booted:-$(boot)}" = "$(boot)" ]
}

# bounded SECONDS NAME COMMAND: runs a command that may hang for ever, even against SIGKILL, with
# its output in the file $out, so that it cannot hold this session. Returns 124 when it did not
# end in time, and 125 with $since when an earlier one of that name still hangs: there is never
# a second one beside it. A name fs-... is one of the node, for all groups. Needs own_folder.
bounded() {
	limit=$(($1 * 50)) out=$own/$2.out mark=$own/$2.pid
	case $2 in fs-*) mark=$node/$2.pid ;; esac
	shift 2
	spent=0
	while alive "$mark"; do
		pause || return 125
	done
	# shellcheck disable=SC2034 # for the script behind
	since=''
	"$@" >"$out" 2>&1 </dev/null &
	pid=$!
	remember "$mark" "$pid"
	spent=0
	ends "$pid" || return 124
	wait "$pid"
}

# ends PID: waits until a process that we started has ended; kills it and is false when the limit is
# spent.
ends() {
	while [ -d "/proc/$1" ]; do # kill -0 cannot see a process of another user, as sudo is
		pause || {
			kill -9 "$1" 2>/dev/null || :
			return 1
		}
	done
}

# launch_name CONTAINER: how bounded knows the command that launches it.
launch_name() {
	printf 'launch-%s' "$(file_name "$1")"
}

# refuse_earlier_launch CONTAINER: ends the script while a command that launches it is still at work: it
# may start the container at any moment. Needs own_folder.
refuse_earlier_launch() {
	! alive "$own/$(launch_name "$1").pid" ||
		fail "an earlier launch command still runs, since $since; wait for its end, or end it on this node"
}

# pause: sleeps a little; false when the limit is spent. Counted in 50ths of a second, since clocks jump.
pause() {
	[ "$spent" -lt "$limit" ] || return 1
	if [ "$spent" -lt 25 ]; then
		sleep 0.02
		spent=$((spent + 1))
	elif [ "$spent" -lt 250 ]; then
		sleep 0.1
		spent=$((spent + 5))
	else
		sleep 1
		spent=$((spent + 50))
	fi
}

# fs_name PATH: how bounded knows a look at what is mounted there.
fs_name() {
	printf 'fs-%s' "$(file_name "$1")"
}

# last_line FILE: prints the last line of a file, for a sentence.
last_line() {
	tail -n 1 "$1"
}

# gib BYTES: prints whole GiB, and MiB below ten of them.
gib() {
	if [ "$1" -lt 10737418240 ]; then
		printf '%s MiB' "$(($1 / 1048576))"
	else
		printf '%s GiB' "$(($1 / 1073741824))"
	fi
}
