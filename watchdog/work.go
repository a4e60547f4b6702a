package watchdog

import (
	"fmt"
	"strings"
	"time"
)

// LooksClosely says whether the next look should ask also how far a boot has come and what the GPUs
// draw: while the group loads, and while anything is wrong.
func (s State) LooksClosely() bool { return s.Phase == Booting || s.Incident != nil }

// with returns l, and newer bars where there are any: the log of an engine goes on behind them.
func (l Load) with(newer Load) Load {
	if newer.ShardsOf > 0 {
		l.Shards, l.ShardsOf = newer.Shards, newer.ShardsOf
	}
	if newer.GraphsOf > 0 {
		l.Graphs, l.GraphsOf = newer.Graphs, newer.GraphsOf
	}
	return l
}

// String says how far it has come; "" where no bar was seen.
func (l Load) String() string {
	var all []string
	if l.ShardsOf > 0 {
		all = append(all, fmt.Sprintf("%d/%d shards", l.Shards, l.ShardsOf))
	}
	if l.GraphsOf > 0 {
		all = append(all, fmt.Sprintf("%d/%d graphs", l.Graphs, l.GraphsOf))
	}
	return strings.Join(all, ", ")
}

// share is how much of its bars a rank has behind it, of 2.
func (l Load) share() float64 {
	part := func(n, of int) float64 {
		if of == 0 {
			return 0
		}
		return float64(n) / float64(of)
	}
	if l.GraphsOf > 0 {
		return 1 + part(l.Graphs, l.GraphsOf)
	}
	return part(l.Shards, l.ShardsOf)
}

// loadWords says how far the rank has come that is least far of those with a bar in their log – workers
// may have none – and what CPU time all ranks together have used since the look before.
func (l *look) loadWords() string {
	least := -1
	for i, k := range l.next.Ranks {
		if k.Load != (Load{}) && (least < 0 || k.Load.share() < l.next.Ranks[least].Load.share()) {
			least = i
		}
	}
	words := ""
	if least >= 0 {
		words = fmt.Sprintf(", rank %d has %s", least, l.next.Ranks[least].Load)
	}
	if used, known := l.usedCPU(); known {
		words += fmt.Sprintf(", %s of CPU time in the last %s", brief(used), brief(l.o.At.Since(l.prev.Last)))
	}
	return words
}

// usedCPU returns what the ranks have used since the last look, of those that tell.
func (l *look) usedCPU() (used time.Duration, known bool) {
	for i, k := range l.next.Ranks {
		if i >= len(l.prev.Ranks) || !l.o.Ranks[i].DockerAnswered() {
			continue
		}
		was, now := l.prev.Ranks[i].Container, k.Container
		if was != nil && now != nil && was.Start() == now.Start() && was.CPU > 0 && now.CPU >= was.CPU {
			used, known = used+now.CPU-was.CPU, true
		}
	}
	return used, known
}

// gpuWords says what the GPUs draw, for whoever reads of a wedge: a deadlocked one may call itself
// busy at a third of the power (S08). It decides nothing.
func (l *look) gpuWords() string {
	var all []string
	for i, k := range l.next.Ranks {
		if w := GPUWords(k.GPUs, k.GPUErr); w != "" {
			all = append(all, fmt.Sprintf("rank %d %s", i, w))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; GPU: " + strings.Join(all, ", ")
}

// GPUWords says what the GPUs of one node draw, or why they do not say; "" where there is nothing to
// say.
func GPUWords(all []GPU, problem string) string {
	var words []string
	for _, g := range all {
		var one []string
		if g.Watts >= 0 {
			one = append(one, fmt.Sprintf("%.0f W", g.Watts))
		}
		if g.Percent >= 0 {
			one = append(one, fmt.Sprintf("%.0f%% busy", g.Percent))
		}
		if len(one) > 0 {
			words = append(words, strings.Join(one, " "))
		}
	}
	if problem != "" {
		words = append(words, problem)
	}
	return strings.Join(words, " + ")
}
