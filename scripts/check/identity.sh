# Whether the name is held by the container that this tick saw, and by no other.
# class:  check
# env:    WATCHDOG_CONTAINER, WATCHDOG_ID (empty: the name must be free)
# output: none
# exit:   0; 1 = another container holds the name, or ours is gone: a person is at work
set -eu
held=''
rc=0
ask_name "$WATCHDOG_CONTAINER" || rc=$?
[ "$rc" -ne 0 ] || held=$(value id)
[ "$held" != "$WATCHDOG_ID" ] || exit 0
[ -n "$held" ] ||
	fail "container $WATCHDOG_CONTAINER has gone since this tick looked: a person is at work; the next tick looks again"
[ -n "$WATCHDOG_ID" ] ||
	fail "name $WATCHDOG_CONTAINER is held by container $held, new since this tick looked: a person is at work"
fail "name $WATCHDOG_CONTAINER is held by container $held instead of $WATCHDOG_ID: a person is at work"
