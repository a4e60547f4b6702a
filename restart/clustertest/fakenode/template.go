package fakenode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"
)

// templateFuncs are the functions Docker gives its --format.
var templateFuncs = template.FuncMap{
	"json": func(v any) (string, error) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(v)
		return strings.TrimSpace(b.String()), err
	},
	"split": strings.Split,
	"join":  strings.Join,
	"lower": strings.ToLower,
	"upper": strings.ToUpper,
	"println": func(a ...any) string {
		return fmt.Sprintln(a...)
	},
}

func parseFormat(format string) (*template.Template, error) {
	if format == "json" {
		format = "{{json .}}"
	}
	// Docker knows \t and \n in a format.
	format = strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(format)
	return template.New("").Funcs(templateFuncs).Option("missingkey=error").Parse(format)
}

// formatLine writes one line in a format, as ps, events, version and info do.
func formatLine(w io.Writer, format string, v any) error {
	t, err := parseFormat(format)
	if err != nil {
		return fmt.Errorf("template parsing error: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, b.String())
	return err
}

// formatObject writes one inspected object. Docker tries the typed value first and the plain
// JSON after that: both .ID and .Id work.
func formatObject(w io.Writer, format string, v any) error {
	var b bytes.Buffer
	t, err := parseFormat(format)
	if err != nil {
		return fmt.Errorf("template parsing error: %w", err)
	}
	if t.Execute(&b, v) != nil {
		b.Reset()
		raw, err := plain(v)
		if err != nil {
			return err
		}
		if err := t.Execute(&b, raw); err != nil {
			return fmt.Errorf("template parsing error: %w", err)
		}
	}
	_, err = fmt.Fprintln(w, b.String())
	return err
}

func plain(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var raw any
	err = d.Decode(&raw)
	return raw, err
}
