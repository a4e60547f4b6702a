package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
)

// Set by the linker, see Makefile.
var (
	version = "unknown"
	built   = "" // RFC 3339, the time of the commit
)

// buildTime is when this binary was built; zero where the build did not say.
func buildTime() time.Time {
	t, err := time.Parse(time.RFC3339, built)
	if err != nil {
		return time.Time{}
	}
	return t
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version and build time",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(a.out, "cluster-watchdog %s (%s, %s/%s) built from a commit of %s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, orUnknown(built))
			return nil
		},
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
