package restart

import "strings"

// sshRefused are the keywords of ssh_config that change where or as whom we connect, or whom
// we trust, each with the value that changes nothing.
var sshRefused = map[string]struct{ name, harmless string }{
	"addressfamily":           {"AddressFamily", "any"},
	"bindaddress":             {"BindAddress", ""},
	"bindinterface":           {"BindInterface", ""},
	"canonicalizehostname":    {"CanonicalizeHostname", "no"},
	"certificatefile":         {"CertificateFile", "none"},
	"hostbasedauthentication": {"HostbasedAuthentication", "no"},
	"pkcs11provider":          {"PKCS11Provider", "none"},
	"proxycommand":            {"ProxyCommand", "none"},
	"proxyusefdpass":          {"ProxyUseFdpass", "no"},
	"remotecommand":           {"RemoteCommand", "none"},
	"revokedhostkeys":         {"RevokedHostKeys", "none"},
	"securitykeyprovider":     {"SecurityKeyProvider", "none"},
}

// sshIgnored are the keywords that neither lead elsewhere nor make us someone else: comfort,
// timeouts, forwarding, and keys and trust that our own configuration names instead.
var sshIgnored = sshKeywordSet(`
	AddKeysToAgent BatchMode CASignatureAlgorithms CanonicalDomains CanonicalizeFallbackLocal
	CanonicalizeMaxDots CanonicalizePermittedCNAMEs ChallengeResponseAuthentication ChannelTimeout
	CheckHostIP Ciphers ClearAllForwardings Compression CompressionLevel ConnectTimeout
	ConnectionAttempts ControlMaster ControlPath ControlPersist DynamicForward
	EnableEscapeCommandline EnableSSHKeysign EscapeChar ExitOnForwardFailure FingerprintHash
	ForkAfterAuthentication ForwardAgent ForwardX11 ForwardX11Timeout ForwardX11Trusted
	GSSAPIAuthentication GSSAPIDelegateCredentials GatewayPorts GlobalKnownHostsFile
	HashKnownHosts HostKeyAlgorithms HostbasedAcceptedAlgorithms HostbasedKeyTypes IPQoS
	IdentitiesOnly IdentityAgent IgnoreUnknown KbdInteractiveAuthentication
	KbdInteractiveDevices KexAlgorithms KnownHostsCommand LocalCommand LocalForward LogLevel
	LogVerbose MACs NoHostAuthenticationForLocalhost NumberOfPasswordPrompts
	ObscureKeystrokeTiming PasswordAuthentication PermitLocalCommand PermitRemoteOpen
	PreferredAuthentications Protocol PubkeyAcceptedAlgorithms PubkeyAcceptedKeyTypes
	PubkeyAuthentication RekeyLimit RemoteForward RequestTTY RequiredRSASize SendEnv
	ServerAliveCountMax ServerAliveInterval SessionType SetEnv StdinNull StreamLocalBindMask
	StreamLocalBindUnlink StrictHostKeyChecking SyslogFacility TCPKeepAlive Tag Tunnel
	TunnelDevice UpdateHostKeys UseKeychain UserKnownHostsFile VerifyHostKeyDNS VersionAddendum
	VisualHostKey WarnWeakCrypto XAuthLocation`)

// judgeSSHKeyword says why a line with a keyword we do not use cannot stand, or nothing. An
// unknown keyword may be anything, and is not quoted: the file may be no ssh_config at all.
func judgeSSHKeyword(keyword, value string) (problem string) {
	if refused, ok := sshRefused[keyword]; ok {
		if refused.harmless != "" && strings.EqualFold(value, refused.harmless) {
			return ""
		}
		return refused.name + " is not supported: make the nodes reachable without it, or keep a file for the watchdog alone"
	}
	if !sshIgnored[keyword] {
		return "this keyword is unknown here and may change where we connect: remove it for the nodes"
	}
	return ""
}

func sshKeywordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[strings.ToLower(word)] = true
	}
	return set
}
