# Waits until enough memory is free: a dead server's memory comes back late.
# class:  settle
# env:    WATCHDOG_MEM_FLOOR (bytes; empty: not known, passes), WATCHDOG_WAIT (seconds)
# output: memfree=BYTES
# exit:   0; 1 = not back in time
set -eu
waited=0
while :; do
	free=$(awk '$1 == "MemFree:" { printf "%.0f\n", $2 * 1024 }' /proc/meminfo)
	[ -n "$free" ] || fail "cannot tell the free memory: no MemFree in /proc/meminfo"
	enough=yes
	[ "$free" -ge "${WATCHDOG_MEM_FLOOR:-0}" ] || enough=no
	if [ "$enough" = yes ] || [ "$waited" -ge "$WATCHDOG_WAIT" ]; then break; fi
	sleep 1
	waited=$((waited + 1))
done
printf 'memfree=%s\n' "$free"
[ "$enough" = yes ] || fail "memory is not back: $(gib "$free") free, $(gib "$WATCHDOG_MEM_FLOOR") needed"
