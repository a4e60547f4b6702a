# Whether the container that was launched runs, under the id that the launch saw.
# class:  launch
# env:    WATCHDOG_CONTAINER, WATCHDOG_ID
# output: id=, started_at=, status=, image=
# exit:   0; 1 = gone, another one, or not running
set -eu
ask_name "$WATCHDOG_CONTAINER" ||
	fail "container $WATCHDOG_CONTAINER has gone since its launch"
tell_container
[ "$(value id)" = "$WATCHDOG_ID" ] ||
	fail "name $WATCHDOG_CONTAINER is held by container $(value id) instead of $WATCHDOG_ID: a person is at work"
[ "$(value status)" = running ] ||
	fail "container $WATCHDOG_CONTAINER is $(value status) instead of running, exit code $(value exit_code): $(value error)"
