# Whether a file system is mounted where it should be, of the right type, and answers.
# A mount that hangs is "hung", never "absent". At most one look at a mount is outstanding.
# class:  check
# env:    WATCHDOG_MOUNT, WATCHDOG_FSTYPE (may be empty; nfs stands for nfs4 too),
#         WATCHDOG_SENTINEL (a file to read, absolute or below the mount; may be empty)
# output: fstype=TYPE
# exit:   0; 1 = hung, stale, absent, not a mount point, wrong type, sentinel missing or empty
set -eu
own_folder
mount=${WATCHDOG_MOUNT%/}
mount=${mount:-/}

# ask COMMAND: asks about the mount; ends the script when it hangs or is stale.
ask() {
	rc=0
	bounded 8 "mount-$(file_name "$mount")" "$@" || rc=$?
	case $rc in
	0) return 0 ;;
	124) fail "mount $mount is hung: no answer within 8 s; its server or network is gone" ;;
	125) fail "mount $mount is hung since $since: an earlier look still waits; its server or network is gone" ;;
	esac
	case $(last_line "$out") in
	*"Stale file handle"*) fail "mount $mount is stale (Stale file handle); unmount it and mount it again" ;;
	*"endpoint is not connected"*) fail "mount $mount is dead (its file system daemon is gone); mount it again" ;;
	esac
	return "$rc"
}

ask stat -- "$mount/." || # also wakes an automount
	case $(last_line "$out") in
	*"No such file"*) fail "mount $mount is absent: there is no such folder on this node" ;;
	*) fail "cannot look at mount $mount: $(last_line "$out")" ;;
	esac

rc=0
ask findmnt -n -r -M "$mount" -o FSTYPE || rc=$?
fstype=$(last_line "$out")
[ "$rc" -eq 0 ] || [ -z "$fstype" ] || fail "cannot tell what is mounted at $mount: $fstype"
[ -n "$fstype" ] || fail "$mount is not a mount point but a plain folder: nothing is mounted there; mount it"
case $WATCHDOG_FSTYPE:$fstype in
:* | nfs:nfs4 | "$fstype:$fstype") ;;
*) fail "mount $mount has type $fstype instead of $WATCHDOG_FSTYPE: something else is mounted there" ;;
esac

case $WATCHDOG_SENTINEL in
'') ;;
/*) sentinel=$WATCHDOG_SENTINEL ;;
*) sentinel=$mount/$WATCHDOG_SENTINEL ;;
esac
if [ -n "$WATCHDOG_SENTINEL" ]; then
	ask head -c 1 -- "$sentinel" || fail "cannot read sentinel $sentinel: $(last_line "$out")"
	[ -s "$out" ] || fail "sentinel $sentinel is empty: the wrong export may be mounted"
fi
printf 'fstype=%s\n' "$fstype"
