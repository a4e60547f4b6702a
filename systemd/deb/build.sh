#!/bin/bash
# Makes dist/cluster-watchdog_VERSION_{amd64,arm64}.deb from bin/linux-*/watchdog. Called by `make
# deb`. The same commit gives the same bytes: all times are the commit's.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Not in go.mod, which names what the program is made of. The version is fixed for the same reason
# as all others.
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0

# version prints the commit's version in Debian's words: 1.2.3 at the tag v1.2.3, 1.2.4~rc1 at
# v1.2.4-rc1, 1.2.3+5.g0123456789ab five commits later, 0~git<time>.<hash> before the first tag.
version() {
	local tag dirty=
	[ -z "$(git status --porcelain --untracked-files=no)" ] || dirty=+dirty
	if tag=$(git describe --tags --abbrev=12 --match 'v[0-9]*' 2>/dev/null); then
		sed -E "s/^v//; s/-([0-9]+)-(g[0-9a-f]{12})\$/+\1.\2/; s/-/~/g; s/\$/$dirty/" <<<"$tag"
	else
		TZ=UTC git log -1 --abbrev=12 --date=format-local:%Y%m%d%H%M%S --format="0~git%cd.%h$dirty"
	fi
}

# licences prints the licence of everything that is linked into the program.
licences() {
	echo "Go"
	cat "$(go env GOROOT)/LICENSE"
	GOOS=linux go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/watchdog | sort -u |
		while read -r path version dir; do
			printf '\n%s %s\n' "$path" "$version"
			find "$dir" -maxdepth 1 -type f \( -iname 'LICEN[CS]E*' -o -iname 'COPYING*' -o -iname 'NOTICE*' \) | LC_ALL=C sort | xargs -d '\n' cat
		done
}

# changelog prints the one entry that dpkg wants; what changed stands in CHANGELOG.md beside it.
changelog() {
	printf 'cluster-watchdog (%s) unstable; urgency=medium\n\n' "$DEB_VERSION"
	printf '  * Built from commit %s; see CHANGELOG.md.gz.\n\n' "$(git log -1 --abbrev=12 --format=%h)"
	printf ' -- The cluster-watchdog authors <root@localhost>  %s\n' "$(TZ=UTC LC_ALL=C date -R -d "@$SOURCE_DATE_EPOCH")"
}

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
DEB_VERSION=$(version)
export SOURCE_DATE_EPOCH DEB_VERSION DEB_ARCH STAGE
umask 022
rm -f dist/cluster-watchdog_*.deb # README's line installs the one that is there
for DEB_ARCH in amd64 arm64; do
	STAGE=dist/deb-$DEB_ARCH
	rm -rf "$STAGE"
	bin/watchdog install --root "$STAGE" --prefix /usr >/dev/null
	# The program that ran is this machine's own; all other files are the same everywhere.
	install -m 0755 "bin/linux-$DEB_ARCH/watchdog" "$STAGE/usr/bin/cluster-watchdog"
	docs=$STAGE/usr/share/doc/cluster-watchdog
	install -m 0644 systemd/deb/copyright "$docs/copyright"
	install -D -m 0644 systemd/deb/lintian-overrides "$STAGE/usr/share/lintian/overrides/cluster-watchdog"
	changelog | gzip -9n >"$docs/changelog.gz"
	gzip -9n <CHANGELOG.md >"$docs/CHANGELOG.md.gz"
	licences | gzip -9n >"$docs/licences.gz"
	find "$STAGE" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	deb=dist/cluster-watchdog_${DEB_VERSION}_$DEB_ARCH.deb
	go run "$nfpm" package --config systemd/nfpm.yaml --packager deb --target "$deb" >/dev/null
	rm -rf "$STAGE"
	echo "$deb"
done
