# Runs the user's own command, which must start a container of exactly our name, detached.
# class:  launch
# env:    WATCHDOG_CONTAINER, WATCHDOG_COMMAND, WATCHDOG_RANK, WATCHDOG_NODE, WATCHDOG_ROLE
#         (head or worker), WATCHDOG_HEAD_ADDR, WATCHDOG_TIMEOUT (seconds),
#         WATCHDOG_DIRS (folders to make first, one a line; may be unset),
#         WATCHDOG_GROUP, WATCHDOG_HEAD_ID, WATCHDOG_STATE_DIR (as in check/claim; no id: not asked)
# output: id=, started_at=, status=, image= of the container, also when it does not run
# exit:   0; 1 = the name is taken, an earlier launch command still runs, another head has taken the
#         group over, the command failed, or the container does not run
set -eu
own_folder

make_dirs() {
	while IFS= read -r dir; do
		[ -z "$dir" ] || mkdir -p -- "$dir" || return 1
	done <<END
${WATCHDOG_DIRS:-}
END
}

# LC_ALL is ours, for what we parse.
command_of_the_user() {
	unset LC_ALL
	# shellcheck disable=SC2016 # for the shell below: everyone can list arguments, and this may hold a token
	exec timeout -k 5 "$WATCHDOG_TIMEOUT" /bin/sh -c 'eval "$WATCHDOG_COMMAND"'
}

[ -z "${WATCHDOG_HEAD_ID:-}" ] || refuse_claimed "$WATCHDOG_GROUP" "$WATCHDOG_CONTAINER" "$WATCHDOG_HEAD_ID" "$WATCHDOG_STATE_DIR"
refuse_earlier_launch "$WATCHDOG_CONTAINER"
if ask_name "$WATCHDOG_CONTAINER"; then
	fail "name $WATCHDOG_CONTAINER is held by container $(value id): a person is at work, or it was not removed"
fi

rc=0
bounded 10 launch-dirs make_dirs || rc=$?
[ "$rc" -eq 0 ] || fail "cannot make the folders: $(last_line "$out")"

: "$WATCHDOG_COMMAND$WATCHDOG_RANK$WATCHDOG_NODE$WATCHDOG_ROLE$WATCHDOG_HEAD_ADDR" # the command's: each must be set
ended=0
bounded "$((WATCHDOG_TIMEOUT + 7))" "$(launch_name "$WATCHDOG_CONTAINER")" command_of_the_user || ended=$?

found=0
ask_name "$WATCHDOG_CONTAINER" || found=$?
[ "$found" -ne 0 ] || tell_container

if [ "$ended" -ne 0 ]; then
	why="fails with exit code $ended"
	case $ended in
	124 | 137) why="did not end within $WATCHDOG_TIMEOUT s" ;;
	esac
	printf 'the launch command %s; its last lines, of %s:\n' "$why" "$out" >&2
	fail "$(tail -n 20 "$out")"
fi
[ "$found" -eq 0 ] ||
	fail "the launch command went well, but there is no container named $WATCHDOG_CONTAINER; it must start one of that name"
words=$(value error)
[ "$(value status)" = running ] ||
	fail "container $WATCHDOG_CONTAINER is $(value status) instead of running, exit code $(value exit_code)${words:+: $words}"
