# Waits until no container holds the exact name. Removal goes on after docker rm has returned.
# class:  destroy
# env:    WATCHDOG_CONTAINER, WATCHDOG_WAIT (seconds)
# output: none
# exit:   0; 1 = still there, or Docker does not answer, which is never "gone"
set -eu
waited=0
while :; do
	rc=0
	why=$( (ask_name "$WATCHDOG_CONTAINER" && printf 'container %s is still %s' "$WATCHDOG_CONTAINER" "$(value status)") 2>&1) || rc=$?
	[ "$rc" -ne 3 ] || exit 0
	[ "$waited" -lt "$WATCHDOG_WAIT" ] || break
	sleep 1
	if [ "$rc" -eq 0 ]; then waited=$((waited + 1)); else waited=$((waited + 10)); fi # about what asking took
done
fail "$why after $WATCHDOG_WAIT s"
