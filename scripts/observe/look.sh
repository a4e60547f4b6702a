# What a node says of its rank: its clock, the container of that name, and Docker's events since
# the last look. The clock is read after the container and before the events, so that whatever
# the container shows has its event before that clock.
# class:  observe
# env:    WATCHDOG_CONTAINER, WATCHDOG_SINCE (the node's clock at the last look; empty: no events),
#         WATCHDOG_PROCESS (an extended expression for the command line of a process in the
#         container; empty: not asked), WATCHDOG_CLOSELY (not empty: also the CPU time, how far it has
#         loaded, and the GPUs), WATCHDOG_SECONDS (the script ends within them; default 15)
# output: container=JSON, or absent where Docker itself says so; inspect=EXIT; inspect_said=TEXT;
#         top=EXIT; top_said=TEXT; processes=MATCHING/ALL; clock=SECONDS; event=JSON for each event
#         of any kind; events=EXIT; events_said=TEXT; cpu=MICROSECONDS so far; log=TEXT, progress
#         bars; gpu=WATTS, PERCENT for each GPU; gpu_said=TEXT
# exit:   0
set -eu
export LC_ALL=C
exec 3>&1
start=$(date +%s)

container='container={"id":{{json .Id}},"name":{{json .Name}},"image":{{json .Image}},
"created":{{json .Created}},"status":{{json .State.Status}},"started_at":{{json .State.StartedAt}},
"exit_code":{{json .State.ExitCode}},"error":{{json .State.Error}},
"oom_killed":{{json .State.OOMKilled}},"restart_count":{{json .RestartCount}},
"restart_policy":{{json .HostConfig.RestartPolicy.Name}},
"auto_remove":{{json .HostConfig.AutoRemove}}}
{{println}}box={{.State.Pid}} {{.State.Status}} {{.Id}}'
# An exec_create carries its whole command line; its first letters are enough.
event='event={"type":{{json .Type}},"action":{{json (printf "%.64s" .Action)}},
"id":{{json .Actor.ID}},"nano":{{.TimeNano}},
"signal":{{json (index .Actor.Attributes "signal")}}}'

# one_line FORMAT: the format without its line ends, which Docker would print.
one_line() {
	printf '%s' "$1" | awk '{ printf "%s", $0 }'
}

# seconds MOST: leaves in $left how long the next call may take.
seconds() {
	left=$((${WATCHDOG_SECONDS:-15} - 2 + start - $(date +%s)))
	if test "$left" -gt "$1"; then left=$1; fi
	if test "$left" -lt 1; then left=1; fi
	code=0
}

# ask ARGUMENTS: docker's answer goes to stdout, what it says on stderr to $said, its exit to $code.
ask() {
	seconds 10
	# The outer redirection is for dash, which reports a killed timeout on stderr.
	{ said=$(timeout -k 1 "$left" docker "$@" 2>&1 >&3 3>&-); } 2>/dev/null || code=$?
}

# take ARGUMENTS: the same, but the answer goes to $said too.
take() {
	seconds 10
	{ said=$(timeout -k 1 "$left" docker "$@" 2>&1 3>&-); } 2>/dev/null || code=$?
}

# tell KEY: how the call ended. What was printed before may have been cut off within a line.
tell() {
	printf '\n%s=%d\n' "$1" "$code"
	if test "$code" -ne 0; then
		printf '%s\n' "$said" | head -c 1000 | sed "s/^/$1_said=/"
	fi
}

# cpu PID ID: what the container's control group says that it has used.
cpu() {
	group=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	case $group in
	*"$2"*) sed -n 's/^usage_usec /cpu=/p' "/sys/fs/cgroup$group/cpu.stat" ;;
	esac
}

# processes: counts the lines of docker top that match, and all. A zombie is no process.
processes() {
	all=$(printf '%s\n' "$said" | grep -c '^ *[0-9]') || :
	alive=$(printf '%s\n' "$said" | sed -n 's/^ *[0-9][0-9]*  *[^Z ][^ ]*  *//p' |
		grep -E -c -e "$WATCHDOG_PROCESS" 2>/dev/null) || :
	printf 'processes=%s/%s\n' "$alive" "$all"
}

# bars: the last progress bar of loading and of capturing graphs in the end of the log.
bars() {
	timeout -k 1 "$left" docker logs --tail 300 "$1" 2>&1 3>&- | tail -c 131072 | tr '\r' '\n' |
		grep -a -E -o '(oading|apturing)[^|%]*[0-9]%[^[]*[0-9]/[0-9]+ \[' |
		awk '/^apturing/ { graphs = $0; next } { shards = $0 } END { print "log=" shards; print "log=" graphs }'
}

# gpus: nvidia-smi may hang so that not even KILL ends it. So nothing here waits for it, it holds
# nothing of this session, and there is never a second one beside one that hangs.
gpus() {
	command -v nvidia-smi >/dev/null || return 0
	case $(ps -o stat= -C nvidia-smi) in
	*D*)
		printf 'gpu_said=an earlier nvidia-smi hangs\n'
		return 0
		;;
	esac
	{
		timeout -k 1 "$left" nvidia-smi --query-gpu=power.draw,utilization.gpu --format=csv,noheader,nounits 3>&- &
	} | timeout -k 1 "$left" head -n 16 | sed 's/^/gpu=/'
}

take inspect --type container --format "$(one_line "$container")" "$WATCHDOG_CONTAINER"
answered=
pid='' status='' id=''
if test "$code" -eq 0; then
	answered=yes
	printf '%s\n' "$said"
	box=$(printf '%s\n' "$said" | sed -n 's/^box=\([0-9]* [a-z]* [0-9a-f]\{64\}\)$/\1/p')
	pid=${box%% *} id=${box##* }
	status=${box#* } status=${status%% *}
fi
if test "$code" -eq 1; then
	case $said in
	*"o such container: $WATCHDOG_CONTAINER"* | *"o such object: $WATCHDOG_CONTAINER"*)
		answered=yes
		printf '\nabsent\n'
		;;
	esac
fi
tell inspect
if test "$status" = running && test -n "${WATCHDOG_PROCESS:-}"; then
	take top "$id" -eo pid,stat,args
	if test "$code" -eq 0; then processes; fi
	tell top
fi

now=$(date +%s.%N)
case $now in
*[!0-9.]*) now=$(date +%s) ;; # a date without %N
esac
printf '\nclock=%s\n' "$now"

if test -n "$answered" && test -n "${WATCHDOG_SINCE:-}"; then
	ask events --since "$WATCHDOG_SINCE" --until "$now" --format "$(one_line "$event")"
	tell events
fi

if test "$status" = running && test -n "${WATCHDOG_CLOSELY:-}"; then
	{ cpu "$pid" "$id"; } 2>/dev/null || :
	seconds 3
	{ bars "$id"; } 2>/dev/null || :
	seconds 3
	{ gpus; } 2>/dev/null || :
fi
