package probe

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"cluster-watchdog/watchdog"
)

const maxEngines = 256

// parseMetrics reads sifted metrics into one EngineCounter per engine.
func parseMetrics(c *watchdog.Counters, text []byte) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return err
	}
	asleep := isAsleep(families[sleepState].GetMetric())
	delete(families, sleepState)
	engine := engineOf(families)
	counters := map[string]*watchdog.EngineCounter{}
	for _, name := range bestLast(families, engine) {
		for label, value := range sumByEngine(families[name].GetMetric(), wanted[name].field.gauge()) {
			c := counters[label]
			if c == nil {
				c = &watchdog.EngineCounter{Label: label, Iterations: -1, Prompt: -1, Generation: -1, Running: -1, Waiting: -1}
				counters[label] = c
			}
			*wanted[name].field.of(c) = value
		}
	}
	if len(counters) > maxEngines {
		return fmt.Errorf("%d engine labels", len(counters))
	}
	c.Engine, c.Asleep = engine, asleep
	for _, label := range slices.Sorted(maps.Keys(counters)) {
		c.Engines = append(c.Engines, *counters[label])
	}
	return nil
}

// isAsleep says whether the gauges of vLLM's sleep state name a way of sleeping. That of being awake
// is not asked: it stays 0 until something has set it.
func isAsleep(samples []*dto.Metric) bool {
	return slices.ContainsFunc(samples, func(s *dto.Metric) bool {
		return valueOf(s) > 0 && slices.ContainsFunc(s.GetLabel(), func(l *dto.LabelPair) bool {
			return l.GetName() == "sleep_state" && l.GetValue() != "awake"
		})
	})
}

// engineOf says whose names there are.
func engineOf(families map[string]*dto.MetricFamily) watchdog.Engine {
	found := watchdog.EngineUnknown
	for name := range families {
		e := wanted[name].engine
		if found == watchdog.EngineUnknown || e < found {
			found = e
		}
	}
	return found
}

// bestLast returns the names of one engine's metrics, of several spellings the best last, so that
// its value stays.
func bestLast(families map[string]*dto.MetricFamily, engine watchdog.Engine) []string {
	names := slices.Collect(maps.Keys(families))
	names = slices.DeleteFunc(names, func(n string) bool { return wanted[n].engine != engine })
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(wanted[b].order, wanted[a].order) })
	return names
}

// copies are labels under which one and the same gauge is repeated: by API server process, or by
// rank of one group. Such copies are not added up; the largest counts.
var copies = []string{"pid", "tp_rank", "pp_rank", "moe_ep_rank"}

// sumByEngine adds up a metric's samples per engine label.
func sumByEngine(samples []*dto.Metric, gauge bool) map[string]float64 {
	largest := map[string]float64{} // by all labels but those of copies
	engines := map[string]string{}  // the engine label of each
	var order []string              // floats are added up in the same order each time
	for i, s := range samples {
		value := valueOf(s)
		engine, identity, partOf := labelsOf(s)
		if value < 0 || partOf {
			continue
		}
		if !gauge {
			identity = fmt.Sprint(i)
		}
		if was, seen := largest[identity]; seen {
			value = max(value, was)
		} else {
			order = append(order, identity)
		}
		largest[identity], engines[identity] = value, engine
	}
	sums := map[string]float64{}
	for _, identity := range order {
		sums[engines[identity]] = min(sums[engines[identity]]+largest[identity], math.MaxFloat64)
	}
	return sums
}

// valueOf returns a sample's value, a negative one where it says nothing.
func valueOf(s *dto.Metric) float64 {
	v := s.GetUntyped().GetValue()
	if s.GetUntyped() == nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return -1
	}
	return v
}

// labelsOf returns a sample's engine and what tells it from other samples. A sample with a priority
// is a part of the one without.
func labelsOf(s *dto.Metric) (engine, identity string, part bool) {
	var labels []string
	for _, l := range s.GetLabel() {
		switch {
		case l.GetName() == "engine" || l.GetName() == "dp_rank": // vLLM's and SGLang's word for it
			engine = l.GetValue()
		case l.GetName() == "priority" && l.GetValue() != "":
			part = true
		}
		if !slices.Contains(copies, l.GetName()) {
			labels = append(labels, fmt.Sprintf("%q=%q", l.GetName(), l.GetValue()))
		}
	}
	slices.Sort(labels)
	return engine, strings.Join(labels, ","), part
}
