# Writes down on this node which head looks after the group, where others look before they touch
# it. What stood there of this very config, also under an older name of the group, goes.
# class:  claim
# env:    WATCHDOG_GROUP, WATCHDOG_CONTAINER, WATCHDOG_HEAD_ID, WATCHDOG_STATE_DIR,
#         WATCHDOG_CLAIM (what is written), WATCHDOG_TAKE_OVER (yes: claims of others are replaced)
# output: replaced=WORDS for each claim of another one
# exit:   0; 1 = somebody else claims it, or it cannot be written: then nothing was changed
set -eu
claims_folder
(umask 077 && mkdir -p -- "$claims") || fail "cannot make folder $claims"
mine=$claims/$(file_name "$WATCHDOG_GROUP")
new=$claims/.new.$$
trap 'rm -f -- "$new"' EXIT

# of_others COMMAND: with what others are told by.
of_others() {
	"$1" "$WATCHDOG_GROUP" "$WATCHDOG_CONTAINER" "$WATCHDOG_HEAD_ID" "$WATCHDOG_STATE_DIR"
}

[ "$WATCHDOG_TAKE_OVER" = yes ] || of_others refuse_claimed
(umask 077 && printf '%s\n' "$WATCHDOG_CLAIM" >"$new") || fail "cannot write into $claims"

if [ "$WATCHDOG_TAKE_OVER" = yes ]; then
	of_others other_claims | while IFS='	' read -r file words; do
		rm -f -- "$file"
		printf 'replaced=%s\n' "$words"
	done
	mv -f -- "$new" "$mine"
elif ln -- "$new" "$mine" 2>/dev/null; then # of two heads that claim at once only one can have
	# ... the group; the name of the container may be claimed under another one.
	[ -z "$(of_others other_claims)" ] || rm -f -- "$mine"
	of_others refuse_claimed
else
	of_others refuse_claimed
	mv -f -- "$new" "$mine"
fi

for file in "$claims"/*; do
	[ "$file" = "$mine" ] || ! claimed_by "$file" "$WATCHDOG_HEAD_ID" "$WATCHDOG_STATE_DIR" || rm -f -- "$file"
done
