# Whether Docker answers this user: its daemon, and its list of containers, which one stuck
# container can block.
# class:  check
# env:    none
# output: server=VERSION
# exit:   0; 1 = hangs, is not running, is not found or refuses this user: told apart in words
set -eu
ask_docker 10 version --format 'server={{.Server.Version}}'
server=$(value server)
ask_docker 10 ps -q --no-trunc
printf 'server=%s\n' "$server"
