# Ends the cache flusher of a group, if one runs. Only a process that we started and that still
# is the same is ended.
# class:  settle
# env:    WATCHDOG_GROUP
# output: ended=PID, or ended=none
# exit:   0; 1 = it does not end
set -eu
own_folder
record=$own/flusher.pid
if ! alive "$record"; then
	printf 'ended=none\n'
	exit 0
fi
flusher=$pid
kill -9 "-$flusher" 2>/dev/null || kill -9 "$flusher" 2>/dev/null || : # not yet a group of its own
limit=100 spent=0
while alive "$record"; do
	pause || fail "flusher $flusher of group $WATCHDOG_GROUP does not end"
done
printf 'ended=%s\n' "$flusher"
