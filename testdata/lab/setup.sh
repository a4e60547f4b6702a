#!/bin/sh
# Runs once, inside the container that becomes the node image, after the files of node/ were laid in.
set -eu
useradd -M -s /bin/bash -u 1000 ops
usermod -aG docker ops
install -d -m 0700 -o ops -g ops /home/ops/.ssh
chown -R ops:ops /home/ops
install -d -o ops -g ops /var/lib/lab
mkdir -p /shared /srv/nas /var/log/journal
chmod 0440 /etc/sudoers.d/ops

# The packages came without their documentation; ours is installed as on any machine.
rm -f /etc/dpkg/dpkg.cfg.d/99mmdebstrap

# Keys and ids are each node's own.
rm -f /etc/ssh/ssh_host_* /var/lib/dbus/machine-id
: >/etc/machine-id

# What a container has no use for, or what would change the machine it runs on.
systemctl --quiet mask getty.target console-getty.service systemd-udevd.service systemd-modules-load.service \
	systemd-sysctl.service systemd-timesyncd.service sys-kernel-debug.mount sys-kernel-tracing.mount \
	dev-hugepages.mount dev-mqueue.mount proc-sys-fs-binfmt_misc.automount apt-daily.timer \
	apt-daily-upgrade.timer e2scrub_all.timer e2scrub_reap.service
systemctl --quiet set-default multi-user.target
systemctl --quiet enable faultfs.service lab-image.service docker.service ssh.service
