# Whether another head, or another config of this head, claims the group or its container's name.
# class:  check
# env:    WATCHDOG_GROUP, WATCHDOG_CONTAINER, WATCHDOG_HEAD_ID (of this head; empty: it has none),
#         WATCHDOG_STATE_DIR (on this head: tells two of its configs apart)
# output: claim=ours, or claim=none
# exit:   0; 1 = somebody else claims it: told who; or this head cannot be told from others
set -eu
[ -n "$WATCHDOG_HEAD_ID" ] ||
	fail "this head cannot be told from another one: its /etc/machine-id is missing or empty; make one with systemd-machine-id-setup"
refuse_claimed "$WATCHDOG_GROUP" "$WATCHDOG_CONTAINER" "$WATCHDOG_HEAD_ID" "$WATCHDOG_STATE_DIR"
if claimed_by "$claims/$(file_name "$WATCHDOG_GROUP")" "$WATCHDOG_HEAD_ID" "$WATCHDOG_STATE_DIR"; then
	printf 'claim=ours\n'
else
	printf 'claim=none\n'
fi
