# Whether an engine process outlived its container, which holds memory that the next start needs, or a
# launch command of ours is still at work, which may start a container at any moment.
# class:  settle
# env:    WATCHDOG_CONTAINER
# output: none
# exit:   0; 1 = a launch command still runs, or an engine lives outside every running container; all
#         such are named
set -eu
own_folder
refuse_earlier_launch "$WATCHDOG_CONTAINER"
ask_docker 10 ps -q --no-trunc
running=$(printf '%s\n' "$said" | sed -n '/^[0-9a-f]\{64\}$/p')
orphans=''
for file in /proc/[0-9]*/comm; do # unlike the command line, it can be read of a stuck process too
	{ IFS= read -r comm <"$file"; } 2>/dev/null || continue
	case $comm in
	VLLM::* | ray::* | sglang::*) ;;
	*) continue ;;
	esac
	process=${file#/proc/}
	process=${process%/comm}
	[ -n "$(birth "$process")" ] || continue # a zombie holds nothing
	cgroup=$(cat "/proc/$process/cgroup" 2>/dev/null) || continue
	for id in $running; do
		case $cgroup in
		*"$id"*) continue 2 ;;
		esac
	done
	orphans="$orphans $process ($comm)"
done
[ -z "$orphans" ] || fail "engine processes outlived their container:$orphans; kill them, or reboot the node if they stay"
