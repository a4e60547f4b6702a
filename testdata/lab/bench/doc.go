// Package bench compares the watchdog with plain bash and ssh on the four nodes of the lab. `make
// bench-lab` runs it; the build tag is lab.
package bench
