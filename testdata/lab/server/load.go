package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// stages are what loading says, and when: parts of the whole, in percent.
var stages = []struct {
	at          int
	where, line string
}{
	{0, "gpu_model_runner.py:4879", "Starting to load model {model}..."},
	{20, "weight_utils.py:574", "Loading safetensors checkpoint shards:  25% Completed | 1/4"},
	{40, "weight_utils.py:574", "Loading safetensors checkpoint shards:  75% Completed | 3/4"},
	{60, "default_loader.py:384", "Loading weights took {seconds} seconds"},
	{60, "gpu_model_runner.py:4820", "Model loading took 87.31 GiB memory and {seconds} seconds"},
	{70, "backends.py:1111", "Dynamo bytecode transform time: 4.50 s"},
	{warmup, "gpu_worker.py:436", "Available KV cache memory: 14.62 GiB"},
	{100, "gpu_model_runner.py:5246", "Graph capturing finished in 3 secs, took 0.45 GiB"},
}

// warmup is the stage that a crash-warmup does not survive.
const warmup = 80

// loading loads the model, if it is let.
func (s *server) loading(ctx context.Context, l *log) error {
	start := time.Now()
	defer s.murmur(l)()
	for _, stage := range stages {
		if err := until(ctx, start.Add(s.load*time.Duration(stage.at)/100)); err != nil {
			return err
		}
		if stage.at >= warmup {
			if f, err := readFault(s.lab); err == nil && f.word == crashWarmup {
				return &exit{1, sayPageFault}
			}
		}
		l.info(stage.where, "%s", fill(stage.line, s.model, time.Since(start)))
	}
	return nil
}

// murmur says now and then that loading takes long: a line that frightens and means nothing (E05).
func (s *server) murmur(l *log) (stop func()) {
	tick, done := time.NewTicker(s.pace.heartbeat), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				l.info("shm_broadcast.py:681", "No available shared memory broadcast block found in %.0f seconds. "+
					"This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation).", s.pace.heartbeat.Seconds())
			}
		}
	}()
	return func() { tick.Stop(); close(done) }
}

// until waits for a moment; its error says why it did not come.
func until(ctx context.Context, when time.Time) error {
	timer := time.NewTimer(time.Until(when))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func fill(line, model string, took time.Duration) string {
	return strings.NewReplacer("{model}", model, "{seconds}", fmt.Sprintf("%.2f", took.Seconds())).Replace(line)
}
