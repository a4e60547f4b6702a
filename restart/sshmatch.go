package restart

import (
	"path"
	"strings"
)

// sshVerdict says whether a block is for us. Maybe: only criteria that we do not judge could tell.
type sshVerdict int

const (
	sshNo sshVerdict = iota
	sshMaybe
	sshYes
)

// sshState is how a block stands, and which line made it so.
type sshState struct {
	verdict sshVerdict
	at      sshConfigLine
	why     string // of a Maybe: the criterion
}

// and is the state of a block within another.
func (s sshState) and(inner sshState) sshState {
	if s.verdict < inner.verdict {
		return s
	}
	return inner
}

// match judges a Match line. Criteria are read from the left and the first that fails settles it,
// so one that we cannot judge does no harm behind it.
func (s *sshSearch) match(line sshConfigLine) sshState {
	state := sshState{verdict: sshYes, at: line}
	for words := line.words; len(words) > 0; {
		name, negated := strings.CutPrefix(strings.ToLower(words[0]), "!")
		words = words[1:]
		if name == "all" {
			if len(words) > 0 || len(line.words) > 2 {
				return s.broken(line, "Match all stands alone, or behind canonical or final: correct it")
			}
			if negated {
				state.verdict = sshNo
			}
			continue
		}
		if name == "final" || name == "canonical" {
			s.wantFinal = s.wantFinal || name == "final"
			if s.final == negated {
				state.verdict = sshNo
			}
			continue
		}
		if len(words) == 0 {
			return s.broken(line, "a criterion of Match has no value: correct it")
		}
		verdict := s.criterion(name, words[0], negated)
		words = words[1:]
		if verdict == sshMaybe {
			state = state.and(sshState{verdict: sshMaybe, at: line, why: knownCriterion(name)})
		} else if verdict == sshNo {
			state.verdict = sshNo
		}
	}
	return state
}

func (s *sshSearch) broken(line sshConfigLine, problem string) sshState {
	s.errs = append(s.errs, line.fault(problem))
	return sshState{verdict: sshNo}
}

// criterion judges one criterion with a value.
func (s *sshSearch) criterion(name, value string, negated bool) sshVerdict {
	var verdict sshVerdict
	switch patterns := strings.Split(value, ","); name {
	case "host":
		for i := range patterns {
			patterns[i] = strings.ToLower(patterns[i])
		}
		verdict = sshMatches(patterns, strings.ToLower(s.targetName()))
	case "originalhost":
		verdict = sshMatches(patterns, s.ask.name)
	case "user":
		verdict = sshMatches(patterns, s.userName())
	default:
		return sshMaybe
	}
	if negated {
		return sshYes - verdict
	}
	return verdict
}

// knownCriterion names a criterion of OpenSSH; any other word is not quoted.
func knownCriterion(name string) string {
	switch name {
	case "exec", "localuser", "localnetwork", "tagged", "command", "version", "sessiontype":
		return name
	}
	return "by this criterion"
}

// sshMatches does what OpenSSH does with a list of patterns: "*" and "?" are wildcards, "?" is
// exactly one character, and a negated pattern that fits rules out the rest.
func sshMatches(patterns []string, name string) sshVerdict {
	verdict := sshNo
	for _, pattern := range patterns {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if ok, err := path.Match(sshLiteral.Replace(pattern), sshSlash.Replace(name)); err != nil || !ok {
			continue
		}
		if negated {
			return sshNo
		}
		verdict = sshYes
	}
	return verdict
}

// sshLiteral hides from path.Match what is no wildcard in ssh_config, sshSlash what it would not
// let a wildcard stand for.
var (
	sshLiteral = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `/`, "\x00")
	sshSlash   = strings.NewReplacer(`/`, "\x00")
)
