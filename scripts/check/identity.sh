# Whether the name is held by the container that this tick saw, and by no other.
# class:  check
# env:    WATCHDOG_CONTAINER, WATCHDOG_ID (empty: the name must be free), WATCHDOG_STARTED (when it
#         was started, as this tick saw it; may be unset)
# output: none
# exit:   0; 1 = another container holds the name, or ours is gone or was started by hand since: a
#         person is at work
set -eu
held=''
rc=0
ask_name "$WATCHDOG_CONTAINER" || rc=$?
[ "$rc" -ne 0 ] || held=$(value id)
if [ "$held" = "$WATCHDOG_ID" ]; then
	case $held:${WATCHDOG_STARTED:-} in :* | *:) exit 0 ;; esac
	# Docker's own restarts raise the count; a start by hand sets it to 0.
	[ "$(value started_at)" = "$WATCHDOG_STARTED" ] || [ "$(value restart_count)" != 0 ] ||
		fail "container $WATCHDOG_CONTAINER was started again since this tick looked: a person is at work; the next tick looks again"
	exit 0
fi
[ -n "$held" ] ||
	fail "container $WATCHDOG_CONTAINER has gone since this tick looked: a person is at work; the next tick looks again"
[ -n "$WATCHDOG_ID" ] ||
	fail "name $WATCHDOG_CONTAINER is held by container $held, not seen when this tick looked: a person is at work, or the node did not answer then"
fail "name $WATCHDOG_CONTAINER is held by container $held instead of $WATCHDOG_ID: a person is at work"
