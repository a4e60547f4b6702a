package watchdog

import (
	"fmt"
	"slices"
	"strings"
)

// snapshot is what is known before a rule of advance; only Explain needs it.
func (l *look) snapshot() *look {
	if l.trail == nil {
		return nil
	}
	before := *l
	before.next = l.next.clone()
	return &before
}

// advanced notes what a rule of advance has changed.
func (l *look) advanced(rule string, before *look) {
	if l.trail == nil {
		return
	}
	words := l.changes(before)
	if rule == "readings" {
		words = append(words, l.readingWords()...)
	}
	*l.trail = append(*l.trail, Ruling{Part: partAdvance, Rule: rule, Applied: len(words) > 0, Words: strings.Join(words, "; ")})
}

// changes says in words what is known now and was not before.
func (l *look) changes(before *look) []string {
	var words []string
	add := func(changed bool, format string, args ...any) {
		if changed {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	was, is := before.next, l.next
	add(l.first && !before.first, "this look only looks: %s", l.whyFirst())
	add(l.clock != before.clock, "%s", l.clock)
	add(was.Phase != is.Phase, "phase %s → %s", was.Phase, is.Phase)
	add(was.Phase == is.Phase && !was.Since.Equal(is.Since), "%s anew, since %s before this look", is.Phase, brief(l.o.At.Since(is.Since)))
	add(is.Grace != nil && was.Grace == nil, "a person is at work: %s", graceWhy(is))
	add(is.Grace == nil && was.Grace != nil, "the grace of a person is over")
	add(len(is.Strikes) > 0 && !slices.EqualFunc(was.Strikes, is.Strikes, sameStrike), "%s", l.strikeWords())
	add(len(is.Strikes) == 0 && len(was.Strikes) > 0, "strikes are cleared")
	add(is.DockerStarts != was.DockerStarts, "started by Docker itself: %d", is.DockerStarts)
	add(is.Incident != nil && was.Incident == nil, "incident %d opens", is.Incidents)
	add(is.Incident == nil && was.Incident != nil, "the incident is over")
	add(l.moved != before.moved, "the counters %s", l.moved)
	add(is.Live != was.Live, "an answered canary has moved the counters: they are live")
	add(!is.Baseline.At.Equal(was.Baseline.At), "kept for the next look")
	for _, n := range l.notices[len(before.notices):] {
		words = append(words, "told: "+n.Text)
	}
	return words
}

func sameStrike(a, b Strike) bool { return a.Term == b.Term && a.Looks == b.Looks && a.What == b.What }

func graceWhy(s State) string {
	if s.Grace == nil {
		return ""
	}
	return s.Grace.Why
}

// whyFirst says which gap in knowledge makes this a first look.
func (l *look) whyFirst() string {
	s := l.prev
	switch {
	case l.o.interrupted() != "":
		return l.o.interrupted()
	case s.Last.IsZero():
		return "there was none before"
	case l.o.At.unknownBoot():
		return "the head's boot id cannot be read"
	case s.Last.BootID != l.o.At.BootID && bootOf(s.Last.BootID) == bootOf(l.o.At.BootID):
		return "the head goes on from an earlier point of the same boot, as from a snapshot"
	case s.Last.BootID != l.o.At.BootID:
		return "the head was booted since"
	case l.o.At.Since(s.Last) > l.p.Gap:
		return brief(l.o.At.Since(s.Last)) + " since the last one"
	case s.Config != l.p.Config || s.Identity != l.p.Identity:
		return "the config has changed"
	default:
		return "armed since the last one"
	}
}

// readingWords lists what was concluded per term.
func (l *look) readingWords() []string {
	var words []string
	for _, v := range []Verdict{l.r.Rank, l.r.Engine, l.r.Progress, l.r.Boot} {
		if v.Term != 0 {
			words = append(words, joinWords(fmt.Sprintf("%s %s", v.Term, v.Reading), v.What))
		}
	}
	return words
}
