# Whether nothing listens on the TCP ports that the group will use on this node.
# class:  settle
# env:    WATCHDOG_PORTS (separated by blanks; may be empty)
# output: none
# exit:   0; 1 = a port is taken; all such are named
set -eu
set -- /proc/net/tcp
if [ -r /proc/net/tcp6 ]; then set -- "$@" /proc/net/tcp6; fi # absent where IPv6 is off
taken=''
for port in $WATCHDOG_PORTS; do
	listens=$(awk -v port="$(printf ':%04X' "$port")" \
		'$4 == "0A" && substr($2, length($2) - 4) == port { print "yes"; exit }' "$@")
	[ -z "$listens" ] || taken="$taken $port"
done
[ -z "$taken" ] || fail "ports are taken:$taken; find who listens with ss -ltnp on this node"
