package restart

import "time"

// Steps returns the restart sequence in its order. Everything up to "identity" leaves the nodes as
// they are; between "claim workers" and "remove containers" lies the commit. Any step may be the last one
// that runs: before the commit no container was touched; after it the group is down and an open
// attempt goes on with the next tick; after "launching" was recorded the next look sees a boot.
func Steps() []Step {
	return []Step{
		// Evidence precedes destruction; best effort.
		{Name: "preserve logs", Script: "preserve/logs", On: All, Timeout: 15 * time.Second,
			Hint: "the evidence of this node is lost if its container is removed"},
		{Name: "preserve inspect", Script: "preserve/inspect", On: All, Timeout: 5 * time.Second,
			Hint: "the evidence of this node is lost if its container is removed"},

		// Checks: all on all nodes, all failures are told.
		{Name: "shell", Script: "check/shell", On: All, Timeout: 5 * time.Second,
			Hint: "log in as the configured user with the configured key and known_hosts"},
		{Name: "docker", Script: "check/docker", On: All, Timeout: 25 * time.Second,
			Hint: "run `docker info` as the configured user on the node"},
		{Name: "mount", Script: "check/mount", On: All, Each: EachMount, Timeout: 30 * time.Second,
			Hint: "mount it and look at it by hand; a watchdog does not repair mounts"},
		{Name: "image", Script: "check/image", On: All, Timeout: 15 * time.Second, Needs: needsImage,
			Hint: "pull the image on the node"},
		{Name: "sudo", Script: "check/sudo", On: All, Timeout: 25 * time.Second,
			Hint: "allow exactly this line in sudoers, see scripts/examples"},
		{Name: "disk", Script: "check/disk", On: All, Each: EachDisk, Timeout: 20 * time.Second,
			Hint: "free some space on the node"},
		{Name: "dirs", Script: "check/dirs", On: All, Timeout: 20 * time.Second, Needs: needsDirs,
			Hint: "make the folder, or let the configured user make it"},
		{Name: "foreign claim", Script: "check/claim", On: All, Timeout: 10 * time.Second,
			Hint: "see who looks after this group: `cluster-watchdog check`"},
		{Name: "identity", Script: "check/identity", On: All, Timeout: 15 * time.Second,
			Hint: "someone else is at work on the node; wait, or `cluster-watchdog disarm --reason`"},

		// Whose the group is. Of two heads that claim at once the one that gets the first node gets all.
		{Name: "claim head", Script: "claim/claim", On: Head, Timeout: 10 * time.Second,
			Hint: "the home of the configured user must be writable on the node"},
		{Name: "claim workers", Script: "claim/claim", On: Workers, Timeout: 10 * time.Second,
			Hint: "the home of the configured user must be writable on the node"},

		// -- commit --
		{Name: "remove containers", Script: "destroy/remove", On: All, Timeout: 2 * time.Minute,
			Hint: "a container that cannot be removed often needs a reboot of its node"},
		{Name: "names gone", Script: "destroy/gone", On: All, Timeout: 75 * time.Second,
			Hint: "look at `docker ps -a` on the node"},

		// The flusher keeps the page cache from eating the memory that weights are loaded into.
		{Name: "start cache flusher", Script: "settle/flusher", On: All, Timeout: 105 * time.Second,
			Hint: "run the sudo line by hand on the node"},
		{Name: "free memory", Script: "settle/memory", On: All, Timeout: 10 * time.Minute,
			Hint: "find what holds the memory; unified memory may need a reboot of the node"},
		{Name: "free ports", Script: "settle/ports", On: All, Timeout: 5 * time.Second, Needs: needsPorts,
			Hint: "find who listens with `ss -ltnp` on the node"},
		{Name: "orphan engines", Script: "settle/orphans", On: All, Timeout: 15 * time.Second,
			Hint: "end the process named here by hand"},

		// -- launching is recorded --
		// launch.order: head-first is for Ray, whose workers join a head that runs: the launch on the
		// head has seen its container running before the first worker is launched.
		{Name: "launch head", Script: "launch/launch", On: Head, When: headFirst, Timeout: 10 * time.Minute,
			Hint: "run launch.command by hand on the head"},
		{Name: "launch workers", Script: "launch/launch", On: Workers, When: sideBySide, Timeout: 10 * time.Minute,
			Hint: "run launch.command by hand on the node"},
		{Name: "launch workers", Script: "launch/launch", On: Workers, When: sequential, OneByOne: true, Timeout: 10 * time.Minute,
			Hint: "run launch.command by hand on the node"},
		{Name: "launch head", Script: "launch/launch", On: Head, When: headLast, Timeout: 10 * time.Minute,
			Hint: "run launch.command by hand on the head"},
		{Name: "verify", Script: "launch/verify", On: All, Timeout: 15 * time.Second,
			Hint: "look at `docker logs` on the node"},
	}
}

// Bounds of whole groups of steps.
const (
	// PreserveLimit bounds all preserving together.
	PreserveLimit = 30 * time.Second
	// ChecksLimit bounds all checks together; nodes are checked side by side.
	ChecksLimit = 40 * time.Second
	// ClearanceLife is how long a clearance may be used.
	ClearanceLife = 60 * time.Second
	// LaunchLife is how long before the first launch the checks may have passed; far more than everything
	// in between takes.
	LaunchLife = time.Hour
	// LookLife is how long before the commit the look may be that the order goes by.
	LookLife = 5 * time.Minute
	// PreserveBytes caps the raw log of one rank.
	PreserveBytes = 64 << 20
)
