package main

import (
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// defaultConfig returns every default there is. What it leaves empty and Validate wants must
// come from the file.
func defaultConfig() Config {
	return Config{
		Group: "llm",
		SSH:   SSHConfig{Parallel: restart.DefaultParallel},
		Server: ServerConfig{
			API:           "completions",
			Engine:        "auto",
			CanaryTimeout: 30 * time.Second,
			CanaryEvery:   watchdog.DefaultPolicy().CanaryEvery,
		},
		Launch: LaunchConfig{
			Timeout:     10 * time.Minute,
			StopSeconds: 10,
		},
		Checks:   ChecksConfig{StateMinFree: GiB},
		Settle:   SettleConfig{MemoryWait: 2 * time.Minute, FlusherEvery: time.Minute},
		Judge:    judgeOf(watchdog.DefaultPolicy()),
		Budget:   budgetOf(watchdog.DefaultPolicy()),
		Notify:   NotifyConfig{Timeout: 10 * time.Second},
		StateDir: "/var/lib/cluster-watchdog",
		LogKeep:  KeepConfig{Incidents: 50, Size: 2 * GiB},
		Period:   time.Minute,

		ActingLock: "/run/cluster-watchdog/acting.lock",
	}
}
