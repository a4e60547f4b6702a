//go:build lab

package accept

// why explains each class of the matrix: what the watchdog knows then, and why this is right.
var why = []struct{ class, text string }{
	{"through", "The fault takes away nothing that the rest of the restart needs: it is slower, over before the next question, or only new logins fail while the run keeps the connections it has. " +
		"Or it ends a rank that is about to be removed anyway; where the end of Docker took the events with it and no rank runs, it may have been a person's stop, who has his time. A boot is judged by its ranks and its engine, not by a mount or a login that fails beside it."},
	{"refused", "A check fails, on that node and by its cause. Nothing was committed, so nothing is touched and nothing counted. Once the fault is gone the next tick restarts the group."},
	{"broken", "The group is committed, and on that node a container can be neither removed nor proved to be gone: nothing is launched over it. The attempt stays open and uses nothing up. " +
		"When the node answers again the same attempt goes on, after fresh checks."},
	{"launch failed", "Launching was on record when the rank could not be started, or nobody can say whether it was. That launch counts, later ranks are not launched, and what runs where is told. " +
		"After the pause the whole group is removed and launched again: the second of two. Where it was the head's, the last one, Docker may go on with it once the fault is gone: then all ranks run, " +
		"and the group is let boot."},
	{"unsaid", "The head's rank was started, but nobody could say so: that is a launch that failed, and it counts. The next look sees that all ranks run, and lets the group boot."},
	{"boot dies", "A rank of the new group ends or is cut off while it loads, and with it the group. The launch has counted; the next one is the second of two, and waits for what the checks miss."},
	{"boot waits", "A rank stands still while it loads. It has not ended, so this is a slow boot and below its limit: it is left alone, and serves when it goes on."},
	{"blind", "The head is cut off from all nodes and from its own address. It can tell nothing and does nothing: silence is not death."},
	{"too slow", "All of the group's SSH goes through the head's link, two kilobytes a second: what ends in time and what does not is chance. What is sure is that it serves in the end, by one or two launches."},
	{"head away", "The watchdog stands still or is off with its head. What was on record before decides how it goes on: nothing committed, it decides again; committed, the same attempt goes on; " +
		"launching recorded, that launch counts and its ranks are given their time to appear. A boot takes Docker's events with it: where no rank runs it may have been a person's stop, who has his time. (A node of the lab has the machine's time since boot: a launch from before a boot looks older there than it is, and may not count any more.)"},
	{"grace", "`docker kill` is somebody's doing. A person has ten minutes (here one) before the group is restarted, and is told so."},
	{"person", "What people do while the watchdog is armed."},
}
