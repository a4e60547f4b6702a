package state

import "testing"

// BenchmarkTick is what a healthy tick asks of the database.
func BenchmarkTick(b *testing.B) {
	s := filled(b)
	next := load(b, s)
	for b.Loop() {
		load(b, s)
		check(b, s.SaveLook(next, Row{Phase: "SERVING", Sentence: "serving: a completion came back"}, nil))
	}
}

func BenchmarkLoad(b *testing.B) {
	s := filled(b)
	for b.Loop() {
		load(b, s)
	}
}
