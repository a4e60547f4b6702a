# Whether the one privileged line we use works without a password. Listing it is not proof: with
# a password-free rule for anything else, sudo lists lines that do ask. So it is also run, with
# nothing to write: tee opens the file and the kernel does nothing.
# class:  check
# env:    none
# output: none
# exit:   0; 1 = not allowed, asks for a password, or sudo hangs
set -eu
own_folder

judge() {
	case $1 in
	0) return 0 ;;
	124 | 125) fail "sudo does not answer within 10 s" ;;
	127) fail "sudo: command not found by this user's shell" ;;
	esac
	why=$(last_line "$out")
	fail "sudo -n /usr/bin/tee /proc/sys/vm/drop_caches is refused: ${why:-not allowed}; add the NOPASSWD line to sudoers"
}

rc=0
bounded 10 sudo sudo -n -l /usr/bin/tee /proc/sys/vm/drop_caches || rc=$?
judge "$rc"
rc=0
bounded 10 sudo sudo -n /usr/bin/tee /proc/sys/vm/drop_caches || rc=$?
judge "$rc"
