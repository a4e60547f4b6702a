# Drops the page cache now, and then again and again through the whole boot: loading the model
# fills it, and on unified memory the engine needs that room. The helper it leaves behind ends
# by itself, and holds nothing of this session. One that runs already is replaced.
# class:  settle
# env:    WATCHDOG_GROUP, WATCHDOG_FLUSHER_SECONDS, WATCHDOG_FLUSHER_EVERY (seconds)
# output: flusher=PID
# exit:   0; 1 = the cache cannot be dropped; no helper runs then
set -eu
own_folder
record=$own/flusher.pid
[ "$WATCHDOG_FLUSHER_EVERY" -ge 1 ] || fail "the flusher cannot run every $WATCHDOG_FLUSHER_EVERY s"

drop() {
	printf '3\n' | sudo -n /usr/bin/tee /proc/sys/vm/drop_caches
}

if alive "$record"; then kill -9 "-$pid" 2>/dev/null || kill -9 "$pid" 2>/dev/null || :; fi

bounded 20 sync sync || : # hangs with a dead file server; the drop is worth having without it
rc=0
bounded 30 drop drop || rc=$?
case $rc in
0) ;;
124 | 125) fail "cannot drop the page cache: no end within 30 s" ;;
*) fail "cannot drop the page cache: $(last_line "$out")" ;;
esac

# The time is counted in sleeps, since clocks jump. A sync or drop that hangs is left alone and
# gets no second one beside it.
# shellcheck disable=SC2016 # meant for the helper's shell
setsid /bin/sh -c '
	cd /
	every=$2 left=$3 sync= drop=
	while [ "$left" -gt 0 ]; do
		[ "$every" -le "$left" ] || every=$left
		sleep "$every"
		left=$((left - every))
		[ -d "/proc/${sync:-none}" ] || { sync & sync=$!; }
		[ -d "/proc/${drop:-none}" ] || { printf "3\n" | sudo -n /usr/bin/tee /proc/sys/vm/drop_caches & drop=$!; }
	done
' cluster-watchdog-flusher "$WATCHDOG_GROUP" "$WATCHDOG_FLUSHER_EVERY" "$WATCHDOG_FLUSHER_SECONDS" </dev/null >/dev/null 2>&1 &
remember "$record" "$!"
printf 'flusher=%s\n' "$!"
