package restart

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// knownHosts is a known_hosts file that was read and found usable.
type knownHosts struct {
	path    string
	db      *knownhosts.HostKeyDB
	skipped []int // lines that could not be read
}

// readKnownHosts reads the file. Lines that do not parse are skipped, but a @revoked one that
// does not is an error: it would leave a key trusted that somebody meant to ban.
func readKnownHosts(path string, owners identityOwners) (*knownHosts, error) {
	f, err := openIdentityFile("known_hosts", path, owners, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := readIdentityFile(f)
	if err != nil {
		return nil, fmt.Errorf("known_hosts %s: %w", path, err)
	}
	h := &knownHosts{path: path}
	revoked, err := h.scan(content)
	if err != nil {
		return nil, err
	}
	// The library takes only names; this one is the very file that was checked.
	h.db, err = knownhosts.NewDB(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return nil, fmt.Errorf("known_hosts %s: holds no line that can be read: write it anew with ssh-keyscan, and compare the fingerprints", path)
	}
	return h, h.proveRevoked(revoked)
}

// knownHostsLine is a key and where it stands.
type knownHostsLine struct {
	number int
	key    ssh.PublicKey
}

func (h *knownHosts) scan(content []byte) (revoked []knownHostsLine, err error) {
	for i, line := range bytes.Split(content, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		_, _, key, _, _, err := ssh.ParseKnownHosts(line)
		switch ban := len(line) >= 8 && bytes.EqualFold(line[:8], []byte("@revoked")); {
		case ban && err != nil:
			return nil, h.badRevoked(i + 1)
		case ban:
			revoked = append(revoked, knownHostsLine{i + 1, key})
		case err != nil:
			h.skipped = append(h.skipped, i+1)
		}
	}
	return revoked, nil
}

// proveRevoked asks about every revoked key: scan and the library parse differently, and only
// what the library has taken in protects us.
func (h *knownHosts) proveRevoked(revoked []knownHostsLine) error {
	for _, line := range revoked {
		var banned *xknownhosts.RevokedError
		if err := h.db.HostKeyCallback()("any:22", &net.TCPAddr{IP: net.IPv4zero}, line.key); !errors.As(err, &banned) {
			return h.badRevoked(line.number)
		}
	}
	return nil
}

func (h *knownHosts) badRevoked(line int) error {
	return fmt.Errorf("known_hosts %s: line %d is marked @revoked and does not parse, so the key it bans is not known: correct the line", h.path, line)
}

func (h *knownHosts) warnings() []string {
	var all []string
	for _, line := range h.skipped {
		all = append(all, fmt.Sprintf("known_hosts %s line %d does not parse and is skipped", h.path, line))
	}
	return all
}

// address is what a target is looked up by: as in OpenSSH an alias stands without its port,
// and names are compared in lower case, as ssh writes them, unless the file has it otherwise.
func (h *knownHosts) address(t Target) string {
	address := net.JoinHostPort(t.Host, fmt.Sprint(t.Port))
	if t.HostKeyAlias != "" {
		address = net.JoinHostPort(t.HostKeyAlias, fmt.Sprint(sshDefaultPort))
	}
	if lower := strings.ToLower(address); len(h.db.HostKeys(address)) == 0 {
		return lower
	}
	return address
}

// algorithms are the kinds of host key the file has for the address. Without this a server with
// several keys shows one that the file does not hold. A host that is unknown is asked for a plain
// key, which is what a person can compare and add.
func (h *knownHosts) algorithms(address string) []string {
	algorithms := h.db.HostKeyAlgorithms(address)
	if len(algorithms) == 0 {
		return []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	if slices.ContainsFunc(h.db.HostKeys(address), func(k knownhosts.PublicKey) bool { return k.Cert }) {
		// The kind of an authority's key says nothing of the keys it signs.
		algorithms = append(algorithms, ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01,
			ssh.CertAlgoECDSA521v01, ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01)
	}
	var kept []string
	for _, a := range algorithms {
		sha1 := a == ssh.KeyAlgoRSA || a == ssh.CertAlgoRSAv01 // the same keys also sign with SHA-2
		if !sha1 && !slices.Contains(kept, a) {
			kept = append(kept, a)
		}
	}
	return kept
}

// check accepts exactly the keys that the file has for the address.
func (h *knownHosts) check(t Target) ssh.HostKeyCallback {
	nowhere := &net.TCPAddr{IP: net.IPv4zero} // a stream through a jump host has no address, and none is looked at
	return func(address string, _ net.Addr, key ssh.PublicKey) error {
		err := h.db.HostKeyCallback()(address, nowhere, key)
		if err == nil && !h.holds(address, key) {
			err = &xknownhosts.KeyError{}
		}
		return h.explain(err, t, address, key)
	}
}

// holds is false for a key that the library took from an entry for another port: where a file
// has any wildcard it asks again without the port, and then an exact name is enough for it.
func (h *knownHosts) holds(address string, key ssh.PublicKey) bool {
	if _, ok := key.(*ssh.Certificate); ok {
		return true // judged by its authority
	}
	return slices.ContainsFunc(h.db.HostKeys(address), func(k knownhosts.PublicKey) bool {
		return bytes.Equal(k.Marshal(), key.Marshal())
	})
}
