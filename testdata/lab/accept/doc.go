// Package accept proves the main job on real parts: systemd, sshd and Docker on four nodes, through
// the installed program and the real timer. `make lab-test` runs it; the build tag is lab.
package accept
