# Removes the one container that this tick saw, by its id. It may still be on its way out when
# this ends: gone.sh waits for that.
# class:  destroy
# env:    WATCHDOG_CONTAINER, WATCHDOG_ID (empty: the name must be free), WATCHDOG_STOP_SECONDS,
#         WATCHDOG_GROUP, WATCHDOG_HEAD_ID, WATCHDOG_STATE_DIR (as in check/claim; no id: not asked)
# output: none
# exit:   0; 1 = another container holds the name, or another head has taken the group over (nothing
#         was touched), or it cannot be removed
set -eu

refuse_others() {
	rc=0
	ask_name "$WATCHDOG_CONTAINER" || rc=$?
	if [ "$rc" -eq 0 ] && [ "$(value id)" != "$WATCHDOG_ID" ]; then
		fail "name $WATCHDOG_CONTAINER is held by container $(value id), not by ${WATCHDOG_ID:-none}: a person is at work"
	fi
}

# Its failure proves nothing: docker rm -f has the last word.
stop() {
	timeout -k 1 "$((WATCHDOG_STOP_SECONDS + 15))" docker stop -t "$WATCHDOG_STOP_SECONDS" "$WATCHDOG_ID" >/dev/null 2>&1 </dev/null || :
}

remove() {
	rc=0
	{ said=$(timeout -k 1 60 docker rm -f "$WATCHDOG_ID" 2>&1 </dev/null); } 2>/dev/null || rc=$?
	case $rc:$said in
	0:* | *[Nn]"o such container"* | *"already in progress"*) return 0 ;;
	124:* | 137:*) fail "container $WATCHDOG_CONTAINER cannot be removed: docker rm does not end within 60 s; the node may need a reboot" ;;
	*"did not receive an exit event"*) fail "container $WATCHDOG_CONTAINER cannot be killed, the node may need a reboot: $(printf '%s\n' "$said" | tail -n 1)" ;;
	esac
	fail "container $WATCHDOG_CONTAINER cannot be removed: $(printf '%s\n' "$said" | tail -n 1)"
}

[ -z "${WATCHDOG_HEAD_ID:-}" ] || refuse_claimed "$WATCHDOG_GROUP" "$WATCHDOG_CONTAINER" "$WATCHDOG_HEAD_ID" "$WATCHDOG_STATE_DIR"
refuse_others
[ -n "$WATCHDOG_ID" ] || exit 0
rc=0
ask_container "$WATCHDOG_ID" || rc=$?
[ "$rc" -eq 0 ] || exit 0
[ "$(value id) $(value name)" = "$WATCHDOG_ID /$WATCHDOG_CONTAINER" ] ||
	fail "container $WATCHDOG_ID is now named $(value name): a person is at work"
stop
remove
