package watchdog

// SkipCanary says whether a look at the given time may do without its canary: the engine has
// generated tokens since the last look, and a canary was served lately by the same start. now are
// the counters of this look, read before the canary. A skipped canary is no served completion.
func (p Policy) SkipCanary(s State, at Clock, now Counters) bool {
	head := ""
	if len(s.Ranks) > 0 && s.Ranks[0].Container != nil {
		head = s.Ranks[0].Container.Start()
	}
	switch {
	case s.Phase != Serving || s.Incident != nil || len(s.Strikes) > 0: // good news is wanted
		return false
	case s.Config != p.Config || s.Identity != p.Identity:
		return false
	case s.Last.BootID != at.BootID || at.Since(s.Last) > p.Gap:
		return false
	case s.Served.IsZero() || s.Served.BootID != at.BootID || at.Since(s.Served) >= p.CanaryEvery:
		return false
	case head == "" || s.ServedBy != head || s.Baseline.Head != head:
		return false
	case len(stuckEngines(s.Baseline.Engines, nil, now.Engines)) > 0: // one of several may hang
		return false
	default:
		return generated(s.Baseline.Engines, now.Engines)
	}
}

// generated says whether tokens were generated from an earlier reading to a later one, of the same
// engines since the same start.
func generated(earlier, later []EngineCounter) bool {
	more := false
	for _, now := range later {
		was, ok := engineNamed(earlier, now.Label)
		if !ok || now.Generation < was.Generation {
			return false
		}
		more = more || was.Generation >= 0 && now.Generation > was.Generation
	}
	return more
}

// skipWords says why no canary was asked.
func (l *look) skipWords() string {
	return "its generation counters move, and a canary was served " + brief(l.o.At.Since(l.next.Served)) + " ago"
}
