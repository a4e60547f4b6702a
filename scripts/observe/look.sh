# What a node says of its rank: its clock, the container of that name, and Docker's events since
# the last look. The clock is read after the container and before the events, so that whatever
# the container shows has its event before that clock.
# class:  observe
# env:    WATCHDOG_CONTAINER, WATCHDOG_SINCE (the node's clock at the last look; empty: no events),
#         WATCHDOG_SECONDS (the script ends within them; default 15)
# output: container=JSON, or absent where Docker itself says so; inspect=EXIT; inspect_said=TEXT;
#         clock=SECONDS; event=JSON for each event of any kind; events=EXIT; events_said=TEXT
# exit:   0
set -eu
export LC_ALL=C
exec 3>&1
start=$(date +%s)

container='container={"id":{{json .Id}},"name":{{json .Name}},"image":{{json .Image}},
"status":{{json .State.Status}},"started_at":{{json .State.StartedAt}},
"exit_code":{{json .State.ExitCode}},"error":{{json .State.Error}},
"oom_killed":{{json .State.OOMKilled}},"restart_count":{{json .RestartCount}},
"restart_policy":{{json .HostConfig.RestartPolicy.Name}},
"auto_remove":{{json .HostConfig.AutoRemove}}}'
# An exec_create carries its whole command line; its first letters are enough.
event='event={"type":{{json .Type}},"action":{{json (printf "%.64s" .Action)}},
"id":{{json .Actor.ID}},"nano":{{.TimeNano}},
"signal":{{json (index .Actor.Attributes "signal")}}}'

# one_line FORMAT: the format without its line ends, which Docker would print.
one_line() {
	printf '%s' "$1" | awk '{ printf "%s", $0 }'
}

# ask ARGUMENTS: docker's answer goes to stdout, what it says on stderr to $said, its exit to $code.
ask() {
	left=$((${WATCHDOG_SECONDS:-15} - 2 + start - $(date +%s)))
	if test "$left" -gt 10; then left=10; fi
	if test "$left" -lt 1; then left=1; fi
	code=0
	# The outer redirection is for dash, which reports a killed timeout on stderr.
	{ said=$(timeout -k 1 "$left" docker "$@" 2>&1 >&3 3>&-); } 2>/dev/null || code=$?
}

# tell KEY: how the call ended. What was printed before may have been cut off within a line.
tell() {
	printf '\n%s=%d\n' "$1" "$code"
	if test "$code" -ne 0; then
		printf '%s\n' "$said" | head -c 1000 | sed "s/^/$1_said=/"
	fi
}

ask inspect --type container --format "$(one_line "$container")" "$WATCHDOG_CONTAINER"
answered=
if test "$code" -eq 0; then answered=yes; fi
if test "$code" -eq 1; then
	case $said in
	*"o such container: $WATCHDOG_CONTAINER"* | *"o such object: $WATCHDOG_CONTAINER"*)
		answered=yes
		printf '\nabsent\n'
		;;
	esac
fi
tell inspect

now=$(date +%s.%N)
case $now in
*[!0-9.]*) now=$(date +%s) ;; # a date without %N
esac
printf '\nclock=%s\n' "$now"

if test -n "$answered" && test -n "${WATCHDOG_SINCE:-}"; then
	ask events --since "$WATCHDOG_SINCE" --until "$now" --format "$(one_line "$event")"
	tell events
fi
