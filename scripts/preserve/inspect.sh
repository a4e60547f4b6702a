# Everything Docker knows of a container. It may hold secrets: redact it before it is kept.
# class:  preserve
# env:    WATCHDOG_ID
# output: the JSON of docker inspect
# exit:   0; 1 = no such container, or Docker does not answer
set -eu
ask_docker 10 inspect --type container "$WATCHDOG_ID" ||
	fail "container $WATCHDOG_ID is gone: nothing to preserve"
printf '%s\n' "$said"
