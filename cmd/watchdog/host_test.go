package main

import "testing"

func TestHeadID(t *testing.T) {
	const id = "4c4c4544004d3510805ac2c04f4d3233"
	got := headID(id + "\n")
	if len(got) != 32 || got == id {
		t.Errorf("id = %q", got)
	}
	if again := headID(id); again != got {
		t.Errorf("without a line end it is %q", again)
	}
	if other := headID("5" + id[1:]); other == got {
		t.Error("two machines are one")
	}
	for _, none := range []string{"", "\n", "uninitialized\n", "00000000000000000000000000000000\n", id[1:], id + id, "x" + id[1:]} {
		if got := headID(none); got != "" {
			t.Errorf("%q names a machine: %q", none, got)
		}
	}
}
