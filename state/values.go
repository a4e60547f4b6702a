package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"

	"cluster-watchdog/watchdog"
)

// encode writes a value as JSON.
func encode(value any) ([]byte, error) { return json.Marshal(value) }

// decode reads a value strictly: anything that encode would not have written is damage.
func decode(text []byte, into any) error {
	if len(text) == 0 || text[0] != '{' {
		return errors.New("no JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON object")
	}
	return nil
}

// finite replaces what JSON cannot hold by -1, which means absent. An engine may well report NaN,
// and that must not keep a look from being saved.
func finite(engines []watchdog.EngineCounter) []watchdog.EngineCounter {
	if engines == nil {
		return nil
	}
	out := make([]watchdog.EngineCounter, len(engines))
	for i, e := range engines {
		for _, n := range []*float64{&e.Iterations, &e.Prompt, &e.Generation, &e.Running, &e.Waiting} {
			if math.IsNaN(*n) || math.IsInf(*n, 0) {
				*n = -1
			}
		}
		out[i] = e
	}
	return out
}
