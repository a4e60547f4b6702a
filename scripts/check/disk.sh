# Whether enough bytes are free, by the number that df calls available: the cautious one.
# class:  check
# env:    WATCHDOG_DISK_PATH, WATCHDOG_DISK_MIN (bytes)
# output: free=BYTES
# exit:   0; 1 = too few, or it cannot be told
set -eu
own_folder
rc=0
bounded 8 "$(fs_name "$WATCHDOG_DISK_PATH")" df -Pk -- "$WATCHDOG_DISK_PATH" || rc=$?
case $rc in
0) ;;
124) fail "disk $WATCHDOG_DISK_PATH is hung: df does not answer within 8 s; its server or network is gone" ;;
125) fail "disk $WATCHDOG_DISK_PATH is hung since $since: an earlier look still waits; its server or network is gone" ;;
*) fail "cannot tell the free bytes of $WATCHDOG_DISK_PATH: $(last_line "$out")" ;;
esac
# Names of devices and mount points may hold blanks; only the run of numbers is sure.
free=$(awk 'match($0, / [0-9]+ +[0-9]+ +-?[0-9]+ +[0-9-]+%? /) {
	split(substr($0, RSTART, RLENGTH), n, " "); printf "%.0f\n", n[3] * 1024 }' "$out")
[ -n "$free" ] || fail "cannot tell the free bytes of $WATCHDOG_DISK_PATH: df says $(last_line "$out")"
printf 'free=%s\n' "$free"
[ "$free" -ge "$WATCHDOG_DISK_MIN" ] ||
	fail "disk $WATCHDOG_DISK_PATH is too full: $(gib "$free") free, $(gib "$WATCHDOG_DISK_MIN") needed; make room"
