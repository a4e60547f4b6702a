//go:build lab

package accept

import (
	"regexp"
	"strings"
	"time"
)

// expectation is how a cell must go, as patterns over the words of seen.
type expectation struct {
	class string        // what explains it, in why
	while string        // until the fault is mended
	after string        // from then on
	count string        // of the budget, in the end
	lasts time.Duration // the fault, at least
	blind bool          // the head cannot be asked while it lasts
	says  string        // what a refusal must name
}

const (
	comesBack = "commit launched serving"
	perhaps   = "((refused|grace) )*"        // Docker's end takes its events with it, and its start a while
	another   = "(commit )?launched serving" // two commits in a row are one word of the story
	once      = "1/2"
	twice     = "2/2"
	quietly   = 15 * time.Second // three looks
)

// expected is what follows from what the fault takes away, and when. The classes are explained in
// matrix_why_test.go.
func (c cell) expected() expectation {
	e := c.fault.effect
	if c.node == head && (e == frozen || e == powerLost) {
		return c.headAway()
	}
	row := c.row()
	row.says = strings.ReplaceAll(c.fault.says, "NODE", "node"+string(rune('1'+c.node)))
	if e == cut && c.node == head { // it still reaches itself, in some ways of cutting
		row.says = "SSH"
	}
	return row
}

func (c cell) row() expectation {
	// A tick may be at work when the fault is mended: what it says then is still about it.
	refused := expectation{class: "refused", while: "refused", after: "(refused )?" + comesBack, count: once}
	through := expectation{class: "through", while: comesBack, count: once}
	broken := expectation{class: "broken", while: "commit broken( waits)?", after: "(waits )?" + comesBack, count: once}
	failed := expectation{class: "launch failed", while: "commit launch-failed", after: comesBack, count: twice}
	dies := expectation{class: "boot dies", while: "commit launched refused", after: "(refused )?" + comesBack, count: twice}
	waits := expectation{class: "boot waits", while: "commit launched", after: "serving", count: once, lasts: quietly}

	// by moment: before the decision, during the checks, after the commit, during launch, during boot
	rows := map[effect][5]expectation{
		harmless:   {through, through, through, through, through},
		narrow:     {through, through, through, through, through},
		mountGone:  {refused, refused, failed, failed, through},
		cut:        {refused, refused, broken, failed, dies},
		frozen:     {refused, refused, broken, failed, waits},
		noLogin:    {refused, through, through, through, through},
		noSSH:      {refused, refused, broken, failed, through},
		dockerHung: {refused, refused, broken, failed, through},
		dockerGone: {refused.graced(), refused.graced(), broken.graced(), failed.graced(), dies.graced()},
		dockerDies: {through.with(perhaps), through.with(perhaps), through.with("(commit broken )?" + perhaps), failed.atOnce(perhaps), again.with("commit launched " + perhaps)},
		rankPaused: {through, through, through, failed, waits},
		rankKilled: {grace, through, through, failed.atOnce("grace "), again.with("commit launched grace ")},
		rankCrash:  {through, through, through, failed.atOnce(""), again},
		powerLost:  {refused, refused, broken, failed, dies},
		rebooted:   {through.with(perhaps), through.with(perhaps), through.with("(commit broken )?" + perhaps), failed.atOnce(perhaps), again.with("commit launched " + perhaps)},
	}
	row := rows[c.fault.effect][momentNumber(c.moment)]
	if c.node != head {
		return row
	}
	if row.class == failed.class && row.after != "" { // the last rank: see why
		row.after, row.count = "(grace )?(commit launched )?serving", "[12]/2"
	}
	switch {
	case c.fault.effect == narrow:
		return expectation{class: "too slow", while: "[a-z -]*", after: "([a-z -]*serving)?", count: "[12]/2", lasts: time.Minute}
	case c.fault.effect == cut && c.moment == beforeDecision:
		return expectation{class: "blind", while: "", after: comesBack, count: once, lasts: quietly}
	case c.fault.effect == cut && c.moment == duringBoot:
		return expectation{class: "blind", while: "commit launched", after: "(commit launched )?serving", count: "[12]/2", lasts: quietly}
	case (c.fault.effect == cut || c.fault.effect == noSSH) && c.moment == duringLaunch:
		return expectation{class: "unsaid", while: "commit launch-failed", after: "serving", count: once}
	case c.fault.effect == rebooted && momentNumber(c.moment) >= 2:
		return c.headAway()
	}
	return row
}

var (
	again = expectation{class: "boot dies", while: "commit launched " + comesBack, count: twice}
	grace = expectation{class: "grace", while: "grace " + comesBack, count: once}
)

// with is the same after something else.
func (e expectation) with(first string) expectation {
	if e.count == twice {
		e.while = first + comesBack
	} else {
		e.while = first + e.while
	}
	return e
}

// graced may be taken for a stop by a person, which it is: somebody has stopped Docker.
func (e expectation) graced() expectation {
	e.after = strings.Replace(e.after, "commit", "(grace )?commit", 1)
	return e
}

// atOnce is a failed launch whose fault is over by itself; between the two tries comes that.
func (e expectation) atOnce(between string) expectation {
	e.while, e.after = e.while+" "+between+comesBack, ""
	return e
}

// headAway is for a head that stands still or is off: with it the watchdog.
func (c cell) headAway() expectation {
	// An orderly end of the head's Docker can be what a step of the run that goes on sees.
	e := expectation{class: "head away", after: perhaps + comesBack, count: once, lasts: 10 * time.Second, blind: true}
	off := c.fault.effect != frozen
	switch c.moment {
	case afterCommit:
		e.while, e.after = "commit", "(interrupted )?launched serving"
		if off {
			e.after = "((interrupted|broken) )?" + perhaps + another
		}
	case duringLaunch:
		e.while, e.after = "commit", "launched serving"
		if off {
			e.after, e.count = "(interrupted )?"+perhaps+another, "[12]/2"
		}
	case duringBoot:
		e.while, e.after = "commit launched", "serving"
		if off {
			e.after, e.count = perhaps+comesBack, "[12]/2"
		}
	}
	return e
}

// fits says whether a story is the expected one.
func (e expectation) fits(story string, noBar bool) bool {
	return regexp.MustCompile(`^` + e.pattern(noBar) + `$`).MatchString(story)
}

// named says whether what was said of refusals names the cause.
func (e expectation) named(refusals string) bool {
	return refusals == "" || regexp.MustCompile(e.says).MatchString(refusals)
}

// pattern is the whole story; a fault that is over by itself leaves no bar.
func (e expectation) pattern(noBar bool) string {
	parts := []string{e.while, `\|`, e.after, e.count}
	if noBar {
		parts[1] = ""
	}
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " ")
}

// text is the pattern for people.
func (e expectation) text(noBar bool) string {
	return strings.NewReplacer("[a-z -]*", "… ", "((interrupted|broken) )?", "(interrupted or broken) ", perhaps, "(refused, grace) ", "(commit )?launched", "commit launched", ` )?`, ") ", ` waits)?`, " waits)", ` ( waits)`, " (waits)", "[12]/2", "1/2 or 2/2", `\|`, "|").Replace(e.pattern(noBar))
}

func momentNumber(m moment) int {
	for i := range everyMoment {
		if everyMoment[i] == m {
			return i
		}
	}
	panic("no such moment: " + string(m))
}

// ten are the cells that every change is tested with: most ways to end, on both nodes.
var ten = map[string]bool{
	"mount stale/during the checks/head":          true,
	"mount hang/before the decision/worker":       true,
	"mount eio/during launch/worker":              true,
	"cable pulled/after the commit/head":          true,
	"node paused/during boot/worker":              true,
	"ssh stopped/during launch/worker":            true,
	"port 22 reset/before the decision/worker":    true,
	"docker stopped/during the checks/worker":     true,
	"dockerd killed/during the checks/head":       true,
	"power lost and back/after the commit/worker": true,
}
