// Command faultfs shows a folder through FUSE and answers as its mode file says: well, late,
// wrongly or never. It stands in for a network mount.
package main

import (
	"errors"
	"flag"
	"log"
	"net"
	"os"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	source := flag.String("source", "", "folder that is shown")
	target := flag.String("target", "", "where it is mounted")
	mode := flag.String("mode", "/run/faultfs.mode", "file with one word: "+words)
	flag.Parse()
	if err := serve(*source, *target, *mode); err != nil {
		log.Fatal(err)
	}
}

func serve(source, target, mode string) error {
	root, err := fs.NewLoopbackRoot(source)
	if err != nil {
		return err
	}
	// Nothing is kept by the kernel, so that a new mode is felt by the next call.
	never := time.Duration(0)
	nodes := fs.NewNodeFS(root, &fs.Options{AttrTimeout: &never, EntryTimeout: &never, NegativeTimeout: &never, NullPermissions: true})
	server, err := fuse.NewServer(&gated{nodes, mode}, target, &fuse.MountOptions{
		AllowOther:    true,
		DirectMount:   true, // as root, without fusermount
		FsName:        "nas:/shared",
		Name:          "faultfs",
		MaxBackground: 64,
	})
	if err != nil {
		return err
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return err
	}
	if err := tellSystemd("READY=1"); err != nil {
		return err
	}
	log.Printf("%s is shown at %s", source, target)
	server.Wait()
	return nil
}

// tellSystemd does what sd_notify does; outside a unit it does nothing.
func tellSystemd(what string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	socket, err := net.Dial("unixgram", name)
	if err != nil {
		return err
	}
	_, err = socket.Write([]byte(what))
	return errors.Join(err, socket.Close())
}
