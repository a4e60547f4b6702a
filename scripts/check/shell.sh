# Whether a POSIX shell runs behind this connection.
# class:  check
# env:    none
# output: shell=ok
# exit:   0
set -eu
printf 'shell=ok\n'
