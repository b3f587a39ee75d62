#!/usr/bin/env bash
# Builds the real parts that tests and the demo run (a control plane, Flux, Argo CD, sops) and the
# generators, each from its own module beside this file. Nothing is written inside the tree.
#
#   build.sh build PART...   build what is missing; progress goes to stderr
#   build.sh dir             print the folder that holds the parts under their plain names
#
# Each module's builds live under a key of what they are made of, so a change of one module rebuilds
# only its own parts; the printed folder links to them and has its own key over all modules.
#
# To move a part to another version, run `go get -tool PACKAGE@VERSION` in its module and bring the
# replace lines along. Not `go mod tidy`: it wants the dependencies of tests, and some are not served.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gitops-reverser/tools
modules=(kubernetes etcd sops gen source-controller kustomize-controller argocd)

# The tools run here: a cross build of the operator must not reach them.
unset GOOS GOARCH
export GOWORK=off CGO_ENABLED=0

say() { echo "$*" >&2; }

# Sets module, package, path and version of a part, and what it costs (cold, on two cores).
recipe() {
	case $1 in
	kube-apiserver | kubectl) module=kubernetes package=k8s.io/kubernetes/cmd/$1 ;;
	etcd) module=etcd package=go.etcd.io/etcd/server/v3 ;;
	sops) module=sops package=github.com/getsops/sops/v3/cmd/sops ;;
	controller-gen) module=gen package=sigs.k8s.io/controller-tools/cmd/controller-gen ;;
	kustomize) module=gen package=sigs.k8s.io/kustomize/kustomize/v5 ;;
	source-controller | kustomize-controller) module=$1 package=github.com/fluxcd/$1 ;;
	argocd) module=argocd package=github.com/argoproj/argo-cd/v3/cmd ;;
	*)
		say "build.sh: no part is named $1"
		exit 2
		;;
	esac
	case $1 in
	kube-apiserver) cost="5 minutes" ;;
	argocd) cost="4 minutes" ;;
	source-controller) cost="3 minutes" ;;
	kustomize-controller) cost="2 minutes" ;;
	*) cost="1 minute" ;;
	esac
	# The line of go.mod that requires the module of this package.
	read -r path version < <(awk -v p="$package/" '$2 ~ /^v/ && index(p, $1 "/") == 1 { print $1, $2 }' "$here/$module/go.mod")
}

# The text of compile and copy_crds is part of the key: they decide what a build holds.
compile() { # part, output
	local x=(-s -w)
	if [ "$module" = kubernetes ]; then
		local v=${version#v} p
		for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
			x+=(-X "$p.gitVersion=$version" -X "$p.gitMajor=${v%%.*}" -X "$p.gitMinor=$(cut -d. -f2 <<<"$v")" -X "$p.gitTreeState=clean")
		done
	fi
	(cd "$here/$module" && go build -mod=readonly -trimpath -buildvcs=false -ldflags "${x[*]}" -o "$2" "$package")
}

# Custom resources belong to the version that serves them, so they are kept beside the binary.
copy_crds() { # output
	local from
	from=$(cd "$here/$module" && go list -mod=readonly -m -f '{{.Dir}}' "$path")
	case $module in
	argocd) from+=/manifests/crds ;;
	*) from+=/config/crd/bases ;;
	esac
	mkdir -p "$1"
	grep -l '^kind: CustomResourceDefinition' "$from"/*.yaml | xargs -I{} install -m 0644 {} "$1/"
}

sum() { sha256sum | cut -c1-12; }

# What a module's binaries are made of, as a folder name.
key() { # module
	echo "$1-$({ echo "$toolchain"; declare -f compile copy_crds; cat "$here/$1"/go.{mod,sum}; } | sum)"
}

build() { # part
	local module package cost path version
	recipe "$1"
	local start=$SECONDS store
	store=$(key "$module")
	local into=$cache/parts/$store
	if [ ! -x "$into/$1" ]; then
		mkdir -p "$into"
		if command -v flock >/dev/null; then
			exec 9>"$into/.$1.lock"
			flock -n 9 || { say "waiting for $1 $version, which another process builds"; flock 9; }
			rm -f "$into/.$1.partial."* # of a build that was killed
		fi
	fi
	if [ ! -x "$into/$1" ]; then
		say "building $1 $version (about $cost cold) ..."
		partial=$into/.$1.partial.$$
		# Go is silent while it compiles: the reader of its empty output tells the time until that closes.
		compile "$1" "$partial" | while read -rt 30 || [ $? -gt 128 ]; do say "  ... $1: $((SECONDS - start)) s"; done
		case $1 in *-controller | argocd) copy_crds "$into/crds" ;; esac
		mv "$partial" "$into/$1"
		say "built $1 $version in $((SECONDS - start)) s"
	fi
	exec 9>&-
	link "../parts/$store/$1" "$dir/$1"
	if [ -d "$into/crds" ]; then link "../../parts/$store/crds" "$dir/crds/$1"; fi
}

link() { # target, name; another process may be doing the same
	mkdir -p "$(dirname "$2")"
	[ -e "$2" ] || ln -s "$1" "$2" 2>/dev/null || [ -e "$2" ]
}

partial=
trap 'rm -f "$partial"' EXIT
trap 'exit 130' INT TERM

command -v go >/dev/null || { say "build.sh: go is not on PATH"; exit 1; }
toolchain=$(cd "$here/kubernetes" && go env GOVERSION GOOS GOARCH)
dir=$cache/$(for m in "${modules[@]}"; do key "$m"; done | sum)

case ${1:-} in
dir) echo "$dir" ;;
build)
	shift
	for part in "$@"; do build "$part"; done
	;;
*)
	say "usage: build.sh build PART... | dir"
	exit 2
	;;
esac
