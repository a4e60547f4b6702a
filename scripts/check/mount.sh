# Whether a file system is mounted where it should be, of the right type, and answers. Each way in
# which it can be wrong has its own sentence, and none is ever mended here: that is for a person.
# A mount that hangs is "hung", never "absent". At most one look at a mount is outstanding.
# class:  check
# env:    WATCHDOG_MOUNT, WATCHDOG_FSTYPE (may be empty; nfs stands for nfs4 too),
#         WATCHDOG_SENTINEL (a file to read, absolute or below the mount; may be empty)
# output: fstype=TYPE; warning=TEXT where it is slow or mounted twice, which is no failure
# exit:   0; 1 = hung, stale, absent, not a mount point, covered, wrong type, sentinel missing ...
set -eu
own_folder
mount=${WATCHDOG_MOUNT%/}
mount=${mount:-/}
late=0

# about SECONDS WHAT COMMAND: asks about the mount or a file on it; ends the script when it hangs or
# when the kernel's words say what is wrong with it.
about() {
	seconds=$1 what=$2
	shift 2
	rc=0
	before=$(uptime)
	bounded "$seconds" "$(fs_name "$mount")" "$@" || rc=$?
	late=$((late + $(uptime) - before))
	case $rc in
	0) return 0 ;;
	124) fail "mount $mount is hung: no answer within $seconds s; its server or network is gone" ;;
	125) fail "mount $mount is hung since $since: an earlier look still waits; its server or network is gone" ;;
	esac
	case $(last_line "$out") in
	*"Stale file handle"*) fail "$what is stale (Stale file handle): unmount $mount and mount it again; then every container that uses it must be made anew" ;;
	*"endpoint is not connected"*) fail "mount $mount is dead (Transport endpoint is not connected): its file system daemon is gone; unmount it and mount it again" ;;
	*"timed out"* | *"Host is down"* | *"o route to host"* | *"is unreachable"*)
		fail "$what does not answer ($(reason)): it is a soft mount, and its server or network is gone" ;;
	*"nput/output error"* | *"emote I/O error"*)
		fail "$what cannot be read ($(reason)): its disk or its server is broken, or it is a soft mount whose server is gone; see dmesg on this node" ;;
	*"ermission denied"* | *"peration not permitted"*)
		fail "$what refuses this user ($(reason)): let it read there and search the folders above; mind root_squash of the export" ;;
	*"ey has expired"* | *"ey not available"*)
		fail "$what refuses this user ($(reason)): its Kerberos ticket is missing or over; renew it on this node" ;;
	*"o such device"*)
		fail "mount $mount is an automount that cannot mount (No such device): see the journal of its mount unit on this node" ;;
	esac
	return "$rc"
}

# uptime: prints hundredths of a second since boot; no clock jumps there.
uptime() {
	read -r up _ </proc/uptime
	printf '%s%s' "${up%.*}" "${up#*.}"
}

# reason: the kernel's own words at the end of the last line.
reason() {
	last_line "$out" | sed 's/.*: //'
}

about 8 "mount $mount" stat -- "$mount/." || # also wakes an automount
	case $(last_line "$out") in
	*"o such file"*) fail "mount $mount is absent: there is no such folder on this node; make it and mount it" ;;
	*) fail "cannot look at mount $mount: $(last_line "$out")" ;;
	esac

# One line for each that is mounted there, the one on top last. An automount stays below what it mounted.
rc=0
about 4 "mount $mount" findmnt -n -r -M "$mount" -o FSTYPE,FSROOT || rc=$?
found=$(last_line "$out")
[ "$rc" -eq 0 ] || [ -z "$found" ] || fail "cannot tell what is mounted at $mount: $found"
[ -n "$found" ] || fail "mount $mount is not a mount point but a plain folder: nothing is mounted there; mount it"
layers=$(awk '$1 != "autofs"' "$out")
[ -n "$layers" ] || fail "mount $mount is an automount that has mounted nothing: see the journal of its mount unit on this node"
top=$(printf '%s\n' "$layers" | tail -n 1)
fstype=${top%% *}

# wanted TYPE: whether it is the type that the config asks for.
wanted() {
	case $WATCHDOG_FSTYPE:$1 in
	:* | nfs:nfs4 | "$1:$1") return 0 ;;
	esac
	return 1
}

if ! wanted "$fstype"; then
	for below in $(printf '%s\n' "$layers" | awk '{ print $1 }'); do
		! wanted "$below" ||
			fail "mount $mount is covered: something of type $fstype is mounted over the $below that is wanted; unmount what lies on top"
	done
	fail "mount $mount has type $fstype instead of $WATCHDOG_FSTYPE: something else is mounted there; mount the right one"
fi
case $top in
*//deleted) fail "mount $mount shows a folder that was deleted at its source: unmount it and mount it again" ;;
esac

case $WATCHDOG_SENTINEL in
'') ;;
/*) sentinel=$WATCHDOG_SENTINEL ;;
*) sentinel=$mount/$WATCHDOG_SENTINEL ;;
esac
if [ -n "$WATCHDOG_SENTINEL" ]; then
	about 8 "sentinel $sentinel" head -c 1 -- "$sentinel" ||
		case $(last_line "$out") in
		*"o such file"*)
			about 4 "mount $mount" ls -A -- "$mount" || fail "cannot list mount $mount: $(last_line "$out")"
			[ -s "$out" ] || fail "mount $mount is empty: sentinel $sentinel is not there; the wrong or an empty export is mounted"
			fail "sentinel $sentinel is not there (No such file or directory): the wrong export is mounted, or correct checks.mounts"
			;;
		*) fail "cannot read sentinel $sentinel: $(last_line "$out")" ;;
		esac
	[ -s "$out" ] || fail "sentinel $sentinel is empty: the wrong export may be mounted; look what it shows, or write a line into it"
fi
printf 'fstype=%s\n' "$fstype"
if [ "$late" -ge 300 ]; then
	printf 'warning=mount %s is slow: it took %s s to answer; loading a model from it takes its time\n' "$mount" "$((late / 100))"
fi
times=$(printf '%s\n' "$layers" | awk 'END { print NR }')
[ "$times" -eq 1 ] ||
	printf 'warning=mount %s is mounted %s times, each over the one before: only the last one shows; unmount what is too many\n' "$mount" "$times"
