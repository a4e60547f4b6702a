package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Identity is a hash of what the config says about nodes, containers, launch and URLs. Being
// armed is bound to it, so it must not change with wording, the order of keys, or a new version
// of this program that knows more keys.
func (c Config) Identity() string {
	return c.hash(func(key string) bool {
		switch section, _, _ := strings.Cut(key, "."); section {
		case "container", "process", "nodes", "launch":
			return true
		default:
			return key == "server.url" || key == "server.metrics_url"
		}
	})
}

// Hash covers every value of the config. It differs when anything but wording has changed.
func (c Config) Hash() string {
	return c.hash(func(string) bool { return true })
}

// hash is over the values of some keys. Empty ones are left out, so that a new key changes
// nothing until it is used.
func (c Config) hash(counts func(key string) bool) string {
	var lines []string
	eachValue(reflect.ValueOf(c), "", "", func(key, place string, v reflect.Value) {
		if counts(key) && !v.IsZero() {
			lines = append(lines, fmt.Sprintf("%s=%q", place, fmt.Sprint(v.Interface())))
		}
	})
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// eachValue visits every single value with its key (nodes.name) and its place (nodes[1].name).
func eachValue(v reflect.Value, key, place string, visit func(key, place string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		fields, names := fieldsOf(v)
		for _, name := range names {
			eachValue(fields[name], join(key, name), join(place, name), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachValue(v.Index(i), key, fmt.Sprintf("%s[%d]", place, i), visit)
		}
	default:
		visit(key, place, v)
	}
}
