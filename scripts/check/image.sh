# Whether the image is on this node.
# class:  check
# env:    WATCHDOG_IMAGE
# output: image=ID
# exit:   0; 1 = it is not, or Docker does not answer
set -eu
ask_docker 10 image inspect --format 'image={{.Id}}' "$WATCHDOG_IMAGE" ||
	fail "image $WATCHDOG_IMAGE is not on this node; docker pull or docker load it here"
printf 'image=%s\n' "$(value image)"
