# Whether each folder is there and writable, or could be made. Makes none.
# class:  check
# env:    WATCHDOG_DIRS (absolute paths, one a line)
# output: none
# exit:   0; 1 = one could be neither written nor made; all such are named
set -eu
own_folder

look() {
	while IFS= read -r dir; do
		case $dir in
		'') continue ;;
		/*) look_at "$dir" ;;
		*) printf '%s is not an absolute path\n' "$dir" ;;
		esac
	done <<END
$WATCHDOG_DIRS
END
}

look_at() {
	above=$1
	until [ -e "$above" ] || [ -L "$above" ]; do
		above=${above%/*}
		above=${above:-/}
	done
	if ! [ -d "$above" ]; then
		printf '%s is not a folder\n' "$above"
	elif ! { [ -w "$above" ] && [ -x "$above" ]; }; then
		printf '%s is not writable by this user\n' "$above"
	fi
}

rc=0
bounded 8 dirs look || rc=$?
case $rc in
0) ;;
124) fail "a folder is hung: no answer within 8 s about one of $(printf '%s' "$WATCHDOG_DIRS" | awk -v ORS=' ' 1)" ;;
125) fail "a folder is hung since $since: an earlier look still waits" ;;
*) fail "cannot look at the folders: $(last_line "$out")" ;;
esac
bad=$(awk 'NR > 1 { printf "; " } { printf "%s", $0 }' "$out")
[ -z "$bad" ] || fail "folders cannot be used: $bad"
