package watchdog

import (
	"fmt"
	"strings"
	"time"
)

// script carries out the commands of a transcript. Each may say at=12:01 or at=+30s; what people
// and machines do is written as a sentence.
//
//	cluster nodes=4 serving|loading|empty [armed] [head-first] [at=11:30]
//	look [canary=served|unanswered|refused|skipped|503] [health=200] [counters=flat|moving|absent]
//	looks until=12:15 [every=1m] [canary= health= counters=] [quietly]
//	server serves | hangs | is-busy | refuses | calls-itself-dead | answers 401
//	n3 exits 139 | is removed | is silent | answers | docker-hangs | docker-restarts | forgets | is paused | is created
//	anna starts n1 n2 | stops n1 | removes n1 | arms | arms launch | disarms 2h reason | takes the flag away | resets
//	anna asks-for a restart | asks-for a stop (which end as the next restart does)
//	the checks fail | the checks pass
//	what runs
//	next restart: ...   every restart: ...
//	the head's machine is reset | the store is full | the store is fine | the clock jumps -3h
type script struct{ w *world }

func (p *script) block(commands []string) (string, error) {
	for _, c := range commands {
		if err := p.command(c); err != nil {
			return "", fmt.Errorf("%s: %w", c, err)
		}
	}
	if p.w == nil {
		return "", fmt.Errorf("the first command is cluster")
	}
	lines := p.w.log
	p.w.log = nil
	if len(lines) == 0 {
		return "ok\n", nil
	}
	return strings.Join(lines, "\n") + "\n", nil
}

func (p *script) command(line string) error {
	words, args := split(line)
	if words[0] == "cluster" {
		return p.cluster(words[1:], args)
	}
	if p.w == nil {
		return fmt.Errorf("no cluster yet")
	}
	w := p.w
	step := time.Duration(0)
	if words[0] == "look" {
		step = time.Minute
	}
	if err := p.moveTo(args["at"], step); err != nil {
		return err
	}
	switch words[0] {
	case "look", "looks":
		for key, value := range args {
			if err := p.set(key, value); err != nil {
				return err
			}
		}
		if words[0] == "looks" {
			return p.looks(args)
		}
		w.tick()
		return nil
	case "server":
		return p.server(words[1:])
	case "what":
		w.say("         %s", w.runs())
		return nil
	case "anna":
		return p.person(words[1:])
	case "next":
		w.next = append(w.next, strings.TrimPrefix(line, "next restart: "))
		return nil
	case "every":
		w.always = strings.TrimPrefix(line, "every restart: ")
		return nil
	case "the":
		return p.machine(strings.Join(words, " "))
	}
	return p.node(words)
}

// split takes key=value out of a line.
func split(line string) (words []string, args map[string]string) {
	args = map[string]string{}
	for _, f := range strings.Fields(line) {
		if f == "quietly" {
			args[f] = ""
			continue
		}
		if k, v, ok := strings.Cut(f, "="); ok {
			args[k] = v
			continue
		}
		words = append(words, f)
	}
	return words, args
}

func (p *script) cluster(words []string, args map[string]string) error {
	n := 0
	if _, err := fmt.Sscan(args["nodes"], &n); err != nil {
		return fmt.Errorf("nodes=: %w", err)
	}
	p.w = newWorld(n)
	w := p.w
	if err := p.moveTo(args["at"], 0); err != nil {
		return err
	}
	for _, word := range words {
		switch word {
		case "empty":
		case "loading", "serving":
			for i := range w.nodes {
				w.start(i, "")
			}
			w.moving = "absent"
			if word == "serving" {
				_ = p.server([]string{"serves"})
			}
		case "armed":
			w.arm(false)
		case "head-first":
			w.policy.HeadFirst = true
		default:
			return fmt.Errorf("no such cluster: %s", word)
		}
	}
	for range 2 { // the look-first and one that settles
		w.pass(time.Minute)
		w.tick()
	}
	w.log = []string{fmt.Sprintf("%s %s, and two looks have been taken", w.now.Wall.Format("15:04:05"), w.state.Phase)}
	return nil
}

// moveTo lets time go by until the given instant: 12:01, 12:01:30 or +30s.
func (p *script) moveTo(to string, step time.Duration) error {
	w := p.w
	if to == "" {
		w.pass(step)
		return nil
	}
	if strings.HasPrefix(to, "+") {
		d, err := time.ParseDuration(to[1:])
		w.pass(d)
		return err
	}
	layout := "15:04:05"[:len(to)]
	clock, err := time.Parse(layout, to)
	if err != nil {
		return err
	}
	now := w.now.Wall
	then := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	if then.Before(now) {
		then = then.AddDate(0, 0, 1)
	}
	if then.Sub(now) > 20*time.Hour && w.state.Last.IsZero() { // the beginning may lie before noon
		then = then.AddDate(0, 0, -1)
	}
	if d := then.Sub(now); d > 12*time.Hour {
		return fmt.Errorf("%s has passed: it is %s", to, now.Format("15:04:05"))
	}
	w.pass(then.Sub(now))
	return nil
}

func (p *script) set(key, value string) error {
	switch key {
	case "canary":
		p.w.canary = value
	case "counters":
		p.w.moving = value
	case "health":
		_, err := fmt.Sscan(value, &p.w.health)
		return err
	case "at", "until", "every", "quietly":
	default:
		return fmt.Errorf("a look has no %s", key)
	}
	return nil
}

// looks takes many; those that conclude the same are shown once.
func (p *script) looks(args map[string]string) error {
	w := p.w
	every := time.Minute
	if args["every"] != "" {
		d, err := time.ParseDuration(args["every"])
		if err != nil {
			return err
		}
		every = d
	}
	end := world{now: w.now, state: w.state}
	if err := (&script{&end}).moveTo(args["until"], 0); err != nil {
		return err
	}
	var last string
	more, shown := 0, []string(nil)
	flush := func() {
		if more > 0 {
			shown = append(shown, fmt.Sprintf("         ... and %d more", more))
		}
		more = 0
	}
	shown = w.log
	for !w.now.Add(every).After(end.now) {
		w.log = nil
		w.pass(every)
		before := w.state.Phase
		d := w.tick()
		key := alike(before, d, w.log)
		if _, quietly := args["quietly"]; quietly {
			w.log = nil
			continue
		}
		if key == last {
			more++
			continue
		}
		flush()
		last = key
		shown = append(shown, w.log...)
	}
	flush()
	w.log = shown
	return nil
}

// alike returns what two looks must share to be shown once: all but the times and the try.
func alike(before Phase, d Decision, log []string) string {
	key := fmt.Sprint(before, d.Next.Phase, d.Action, d.Why, d.Reason)
	for _, line := range log[1:] {
		_, rest, _ := strings.Cut(line, ", try")
		key += line[:len(line)-len(rest)] + strings.TrimLeft(rest, " 0123456789")
	}
	return key
}

func (p *script) server(words []string) error {
	w := p.w
	set := func(canary string, health int, counters string) error {
		w.canary, w.health, w.moving = canary, health, counters
		return nil
	}
	switch words[0] {
	case "serves":
		return set("served", 200, "flat")
	case "hangs":
		return set("unanswered", 200, "flat")
	case "is-busy":
		return set("unanswered", 200, "moving")
	case "refuses":
		return set("refused", 0, "absent")
	case "calls-itself-dead":
		return set("500", 503, "flat")
	case "answers":
		return set(words[1], 200, "flat")
	}
	return fmt.Errorf("no such server")
}

func (p *script) node(words []string) error {
	w := p.w
	i := w.named("on " + words[0])
	if i < 0 {
		return fmt.Errorf("no such command or node")
	}
	n := w.nodes[i]
	switch what := strings.Join(words[1:], " "); {
	case words[1] == "exits":
		code := 0
		_, err := fmt.Sscan(words[2], &code)
		w.exit(i, code)
		return err
	case what == "is removed":
		w.remove(i)
	case what == "is silent":
		n.silent = true
	case what == "answers":
		n.silent, n.docker = false, false
	case what == "docker-hangs":
		n.docker = true
	case what == "docker-restarts":
		w.dockerRestart(i)
	case what == "forgets":
		n.lost = true
	case what == "is paused", what == "is created":
		n.box.Status = words[2]
	default:
		return fmt.Errorf("a node does not do that")
	}
	return nil
}

func (p *script) person(words []string) error {
	w := p.w
	switch words[0] {
	case "arms":
		w.arm(len(words) > 1 && words[1] == "launch")
	case "disarms":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			return err
		}
		w.flag = Flag{Present: true, Who: "anna", When: w.now.Wall, Until: w.now.Add(d).Wall, Ends: w.now.Add(d), Reason: strings.Join(words[2:], " ")}
	case "takes":
		w.flag = Flag{}
	case "resets":
		w.state.Reset = w.now
	case "asks-for":
		w.ask4(words[2] == "stop")
	case "starts", "stops", "removes":
		for _, name := range words[1:] {
			i := w.named("on " + name)
			if i < 0 {
				return fmt.Errorf("no such node: %s", name)
			}
			map[string]func(){"starts": func() { w.remove(i); w.start(i, "") }, "stops": func() { w.stop(i) }, "removes": func() { w.remove(i) }}[words[0]]()
		}
	default:
		return fmt.Errorf("a person does not do that")
	}
	return nil
}

func (p *script) machine(what string) error {
	w := p.w
	switch {
	case what == "the head's machine is reset":
		w.now.BootID, w.now.Boot = w.now.BootID+"'", 0
		w.nodes[0].events, w.nodes[0].box.Status, w.nodes[0].box.ExitCode = nil, "exited", 255
	case what == "the checks fail", what == "the checks pass":
		w.checks = map[string]string{"the checks fail": "mount on n2: it is not mounted"}[what]
	case what == "the store is full":
		w.fault = "no space left on the state volume"
	case what == "the store is fine":
		w.fault = ""
	case strings.HasPrefix(what, "the clock jumps "):
		d, err := time.ParseDuration(strings.TrimPrefix(what, "the clock jumps "))
		w.now.Wall = w.now.Wall.Add(d)
		return err
	default:
		return fmt.Errorf("no such machine")
	}
	return nil
}
