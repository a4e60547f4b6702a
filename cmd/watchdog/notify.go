package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/netfs"
)

// notify lets a person hear of it: the text goes to notify.command on stdin, as the configured
// user, never as root. It waits for it, for at most notify.timeout, so that nothing is left behind
// when this run ends. It returns false where somebody should have heard of it and did not.
func (s *session) notify(kind watchdog.NoticeKind, text string) bool {
	text = plain(text)
	e := s.log.Info()
	switch kind {
	case watchdog.NoticeRefused, watchdog.NoticeGaveUp, watchdog.NoticeSetAside, watchdog.NoticeTrouble:
		e = s.log.Warn()
	}
	e.Str("event", "notice").Str("notice", kind.String()).Msg("notice: " + text)
	if s.config.Notify.Command == "" {
		return true
	}
	err := s.hook(kind, text)
	if err != nil {
		s.log.Error().Str("event", "notice-failed").Str("notice", kind.String()).Msgf("cannot tell anyone by notify.command: %v", err)
	}
	return err == nil
}

// hook gives one line to notify.command.
func (s *session) hook(kind watchdog.NoticeKind, text string) error {
	host, _ := os.Hostname()
	return s.runHook(s.config.Notify.Command, fmt.Sprintf("[%s@%s] %s: %s\n", s.config.Group, host, kind, text), s.config.Notify.Timeout)
}

// hookWait is how long the output of a hook that was killed may still be held by its children.
const hookWait = time.Second

// runHook runs a command of the user's as the configured user, with input on its stdin. It has a
// context of its own: a notice that says that we were interrupted must still get out, for a while.
func (s *session) runHook(command, input string, limit time.Duration) error {
	defer s.at.begin("a command of notify.user")()
	hooks := s.hooks
	if hooks == nil {
		hooks = context.Background()
	}
	ctx, cancel := context.WithTimeout(hooks, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	credential, env, home, err := hookIdentity(s.config.HookUser())
	if err != nil {
		return err
	}
	cmd.Env, cmd.Dir = env, home
	cmd.Stdin = strings.NewReader(input)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &limitedWriter{&said, 4 << 10}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = hookWait
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it did not end within %s", limit)
	case ctx.Err() != nil:
		return errors.New("this run was asked to end, and could not wait for it any longer")
	case err != nil && said.Len() > 0:
		return fmt.Errorf("%w: %s", err, plain(said.String()))
	default:
		return err
	}
}

// hookIdentity says as whom a hook runs: as the configured user when we are root, else as we are.
func hookIdentity(name string) (*syscall.Credential, []string, string, error) {
	path := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	if os.Geteuid() != 0 {
		home := os.Getenv("HOME")
		return nil, []string{path, "HOME=" + home, "USER=" + os.Getenv("USER")}, "", nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, nil, "", fmt.Errorf("cannot run it as %s: %w: name a user of this machine in notify.user", name, err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	c := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if ids, err := u.GroupIds(); err == nil {
		for _, id := range ids {
			if g, err := strconv.ParseUint(id, 10, 32); err == nil {
				c.Groups = append(c.Groups, uint32(g))
			}
		}
	}
	home := u.HomeDir
	if netfs.At(home) != "" { // going there could hang, and with it all that comes after the notice
		home = "/"
	} else if info, err := os.Stat(home); err != nil || !info.IsDir() {
		home = "/"
	}
	return c, []string{path, "HOME=" + u.HomeDir, "USER=" + u.Username, "LOGNAME=" + u.Username}, home, nil
}

// limitedWriter keeps the first bytes and takes the rest.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
