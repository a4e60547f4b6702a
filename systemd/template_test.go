package systemd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A template differs from its unit in these settings and no others.
func TestTemplatesDifferWhereTheyMust(t *testing.T) {
	for _, row := range []struct {
		of, template string
		differ       []string
	}{
		{service, serviceOfOne, []string{"Service.ExecStart", "Service.LoadCredential", "Service.StateDirectory", "Unit.Description", "Unit.OnFailure"}},
		{timer, timerOfOne, []string{"Unit.Description"}},
		{notice, noticeOfOne, []string{"Service.ExecStart", "Unit.Description"}},
	} {
		one, other := options(t, row.of), options(t, row.template)
		var differ []string
		for _, name := range slices.Sorted(maps.Keys(one)) {
			if !slices.Equal(one[name], other[name]) {
				differ = append(differ, name)
				if len(other[name]) != 1 || !strings.Contains(other[name][0], "%i") {
					t.Errorf("%s in %s is %q: it does not name the group", name, row.template, other[name])
				}
			}
		}
		if diff := cmp.Diff(row.differ, differ); diff != "" || len(one) != len(other) {
			t.Errorf("%s differs from %s (-want +got):\n%s", row.template, row.of, diff)
		}
	}
}

// No template may speak of the unit of another group.
func TestTemplatesNameNoOtherUnit(t *testing.T) {
	for _, file := range []string{serviceOfOne, timerOfOne, noticeOfOne} {
		for _, other := range []string{service, timer, notice} {
			if strings.Contains(string(content(t, file)), other) {
				t.Errorf("%s names %s", file, other)
			}
		}
	}
}

// In a template %i is the group's name as it was typed; %I would make a "/" of each "-".
func TestTemplatesUseTheNameAsTyped(t *testing.T) {
	for _, file := range []string{serviceOfOne, timerOfOne, noticeOfOne} {
		if text := string(content(t, file)); strings.Contains(text, "%I") || !strings.Contains(text, "%i") {
			t.Errorf("%s: %s", file, fmt.Sprintf("%.80s", text))
		}
	}
}
