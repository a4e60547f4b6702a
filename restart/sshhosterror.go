package restart

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// explain turns a refused host key into what a person must do. None of it is "turn the check
// off".
func (h *knownHosts) explain(err error, t Target, address string, key ssh.PublicKey) error {
	shown := fmt.Sprintf("%s key %s", key.Type(), ssh.FingerprintSHA256(key))
	var changed *xknownhosts.KeyError
	var revoked *xknownhosts.RevokedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		return fmt.Errorf("host key revoked: %s:%d shows the %s, which %s line %d bans: give the node a new host key",
			t.Host, t.Port, shown, h.path, revoked.Revoked.Line)
	case errors.As(err, &changed) && len(changed.Want) > 0:
		return fmt.Errorf("host key changed: %s:%d shows the %s, but %s holds %s: find out why first; only if the node was reinstalled replace the old key, %s",
			t.Host, t.Port, shown, h.path, heldKeys(changed.Want), compareFirst(t))
	case errors.As(err, &changed):
		return fmt.Errorf("host key unknown: %s has no key for %s, which shows the %s%s: %s; only then add this line to it: %s",
			h.path, knownhosts.Normalize(address), shown, h.mentionSkipped(), compareFirst(t), xknownhosts.Line([]string{address}, key))
	}
	return fmt.Errorf("host key refused: %s:%d shows the %s: %s", t.Host, t.Port, shown, printableLine(err.Error()))
}

// compareFirst is how a person learns that a key is the node's own.
func compareFirst(t Target) string {
	if t.Via != nil { // ssh-keyscan knows no jump hosts
		return "compare it with what `ssh-keygen -lf` prints of /etc/ssh/ssh_host_*_key.pub on the node itself"
	}
	return fmt.Sprintf("compare what `ssh-keyscan -p %d %s | ssh-keygen -lf -` prints with `ssh-keygen -lf` of /etc/ssh/ssh_host_*_key.pub on the node itself", t.Port, t.Host)
}

func heldKeys(keys []xknownhosts.KnownKey) string {
	var held []string
	for _, k := range keys {
		held = append(held, fmt.Sprintf("%s %s in line %d", k.Key.Type(), ssh.FingerprintSHA256(k.Key), k.Line))
	}
	return strings.Join(held, " and ")
}

// mentionSkipped is for somebody who is sure that the key is in the file.
func (h *knownHosts) mentionSkipped() string {
	switch len(h.skipped) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (line %d of the file does not parse and was skipped)", h.skipped[0])
	}
	return fmt.Sprintf(" (%d lines of the file do not parse and were skipped, the first is line %d)", len(h.skipped), h.skipped[0])
}
