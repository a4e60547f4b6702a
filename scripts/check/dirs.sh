# Whether each folder is there and writable, or could be made. Makes none.
# class:  check
# env:    WATCHDOG_DIRS (absolute paths, one a line)
# output: none
# exit:   0; 1 = one could be neither written nor made; all such are named
set -eu
own_folder

# look: a line "at PATH" before each folder, so that it is known which one hangs, and "bad WORDS".
look() {
	while IFS= read -r dir; do
		printf 'at %s\n' "$dir"
		case $dir in
		'') continue ;;
		/*) look_at "$dir" ;;
		*) printf 'bad %s is not an absolute path\n' "$dir" ;;
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
		printf 'bad %s is not a folder\n' "$above"
	elif ! { [ -w "$above" ] && [ -x "$above" ]; }; then
		case ,$(findmnt -n -r -T "$above" -o VFS-OPTIONS,FS-OPTIONS | tail -n 1 | tr ' ' ','), in
		*,ro,*) printf 'bad %s lies on a file system that is mounted read-only\n' "$above" ;;
		*) printf 'bad %s is not writable by this user\n' "$above" ;;
		esac
	fi
}

# last: the folder that was looked at last.
last() {
	[ ! -r "$out" ] || sed -n 's/^at //p' "$out" | tail -n 1
}

rc=0
bounded 8 dirs look || rc=$?
case $rc in
0) ;;
124) fail "folder $(last) is hung: no answer within 8 s; the server or network of its file system is gone" ;;
125) fail "folder $(last) is hung since $since: an earlier look still waits; the server or network of its file system is gone" ;;
*) fail "cannot look at the folders: $(last_line "$out")" ;;
esac
bad=$(sed -n 's/^bad //p' "$out" | awk 'NR > 1 { printf "; " } { printf "%s", $0 }')
[ -z "$bad" ] || fail "folders cannot be used: $bad"
