package main

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// gated asks the gate before each call that a program can wait for.
type gated struct {
	fuse.RawFileSystem
	mode string
}

func (g *gated) Lookup(c <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if s := g.gate(c, false); !s.Ok() {
		return s
	}
	if g.word() == "empty" {
		return fuse.ENOENT
	}
	return g.RawFileSystem.Lookup(c, h, name, out)
}

func (g *gated) ReadDir(c <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if s := g.gate(c, false); !s.Ok() || g.word() == "empty" {
		return s
	}
	return g.RawFileSystem.ReadDir(c, in, out)
}

func (g *gated) ReadDirPlus(c <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if s := g.gate(c, false); !s.Ok() || g.word() == "empty" {
		return s
	}
	return g.RawFileSystem.ReadDirPlus(c, in, out)
}

func (g *gated) GetAttr(c <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if s := g.gate(c, false); !s.Ok() {
		return s
	}
	return g.RawFileSystem.GetAttr(c, in, out)
}

func (g *gated) OpenDir(c <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if s := g.gate(c, false); !s.Ok() {
		return s
	}
	return g.RawFileSystem.OpenDir(c, in, out)
}

func (g *gated) StatFs(c <-chan struct{}, h *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	if s := g.gate(c, false); !s.Ok() {
		return s
	}
	return g.RawFileSystem.StatFs(c, h, out)
}

func (g *gated) Open(c <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if s := g.gate(c, in.Flags&(syscall.O_WRONLY|syscall.O_RDWR) != 0); !s.Ok() {
		return s
	}
	return g.RawFileSystem.Open(c, in, out)
}

func (g *gated) Read(c <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if s := g.gate(c, false); !s.Ok() {
		return nil, s
	}
	return g.RawFileSystem.Read(c, in, buf)
}

func (g *gated) Write(c <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if s := g.gate(c, true); !s.Ok() {
		return 0, s
	}
	return g.RawFileSystem.Write(c, in, data)
}

func (g *gated) Create(c <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if s := g.gate(c, true); !s.Ok() {
		return s
	}
	return g.RawFileSystem.Create(c, in, name, out)
}

func (g *gated) SetAttr(c <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if s := g.gate(c, true); !s.Ok() {
		return s
	}
	return g.RawFileSystem.SetAttr(c, in, out)
}

func (g *gated) Mkdir(c <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	if s := g.gate(c, true); !s.Ok() {
		return s
	}
	return g.RawFileSystem.Mkdir(c, in, name, out)
}

func (g *gated) Unlink(c <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	if s := g.gate(c, true); !s.Ok() {
		return s
	}
	return g.RawFileSystem.Unlink(c, h, name)
}

func (g *gated) Rmdir(c <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	if s := g.gate(c, true); !s.Ok() {
		return s
	}
	return g.RawFileSystem.Rmdir(c, h, name)
}

func (g *gated) Rename(c <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	if s := g.gate(c, true); !s.Ok() {
		return s
	}
	return g.RawFileSystem.Rename(c, in, from, to)
}
