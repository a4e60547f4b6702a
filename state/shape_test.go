package state

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

var update = flag.Bool("update", false, "rewrite testdata/schema-*.txt")

// A field that comes or goes makes a database that another watchdog calls damaged, unless the
// schema version tells. So the stored types are written down per version.
func TestStoredTypesFitTheSchemaVersion(t *testing.T) {
	var out strings.Builder
	seen := map[reflect.Type]bool{}
	for _, stored := range []reflect.Type{
		reflect.TypeFor[watchdog.State](), reflect.TypeFor[watchdog.Attempt](), reflect.TypeFor[watchdog.Arm](),
		reflect.TypeFor[watchdog.LastGood](), reflect.TypeFor[watchdog.Clock](), reflect.TypeFor[Row](), reflect.TypeFor[Deed](), reflect.TypeFor[watchdog.Observation](),
		reflect.TypeFor[ledger](), reflect.TypeFor[Day](),
	} {
		describe(&out, stored, seen)
	}
	path := filepath.Join("testdata", fmt.Sprintf("schema-%d.txt", schemaVersion))
	if *update {
		check(t, os.MkdirAll("testdata", 0o755))
		check(t, os.WriteFile(path, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if string(want) != out.String() {
		t.Log("the stored types changed: raise schemaVersion if this version was ever released, then: go test ./state -run StoredTypes -update")
		same(t, "stored types", strings.Split(string(want), "\n"), strings.Split(out.String(), "\n"))
	}
}

// describe writes a struct's stored fields, then the structs in them.
func describe(out *strings.Builder, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || seen[typ] {
		return
	}
	seen[typ] = true
	fmt.Fprintf(out, "%s\n", typ.Name())
	var below []reflect.Type
	for _, f := range reflect.VisibleFields(typ) {
		if f.Tag.Get("json") == "-" || len(f.Index) > 1 {
			continue
		}
		fmt.Fprintf(out, "\t%s %s\n", f.Tag.Get("json"), f.Type)
		below = append(below, f.Type)
	}
	for _, b := range below {
		describe(out, b, seen)
	}
}
