# The last lines of both streams of a container's log, with times; never follows.
# class:  preserve
# env:    WATCHDOG_ID, WATCHDOG_MAX_BYTES
# output: the log, cut after WATCHDOG_MAX_BYTES
# exit:   0; 1 = docker failed or did not end within 12 s: what came before is good
set -eu

# both: the log on stdout. dash reports a killed timeout on stderr; in a subshell of its own that
# cannot get between the lines.
both() {
	{
		rc=0
		(exec timeout -k 1 12 docker logs --timestamps --tail 50000 "$WATCHDOG_ID" 2>&1 3>&- 4>&-) || rc=$?
	} 2>/dev/null
	return "$rc"
}

# So many lines reach the cap only where they are absurdly long: it would cut off the end.
exec 4>&1
rc=$({ { both && printf '0' >&3 || printf '%s' $? >&3; } | head -c "$WATCHDOG_MAX_BYTES" >&4 3>&-; } 3>&1)
case $rc in
0 | 141) ;; # 141: head had enough
124 | 137) fail "docker logs did not end within 12 s" ;;
127) fail "docker: command not found by this user's shell" ;;
*) fail "docker logs fails with exit code $rc" ;;
esac
