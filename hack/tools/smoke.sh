#!/usr/bin/env bash
# Starts every real part once on 127.0.0.1, waits until each says it is ready, and ends them all.
# It proves the builds; the tests start the parts they need themselves.
set -euo pipefail

bin=$("$(dirname "${BASH_SOURCE[0]}")/build.sh" dir)
tmp=$(mktemp -d)
pids=()
finish() {
	local status=$? pid
	trap - EXIT
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	# All they hold is in $tmp: there is nothing to wait long for.
	for _ in {1..30}; do
		[ -n "$(jobs -pr)" ] || break
		sleep 0.1
	done
	for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
	wait 2>/dev/null
	rm -rf "$tmp"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() {
	echo "smoke: $1" >&2
	if [ -f "$tmp/$2.log" ]; then tail -n 20 "$tmp/$2.log" >&2; fi
	exit 1
}

# Below the range the kernel hands out, so that no outgoing connection takes the port first.
port() { # variable
	local p
	while :; do
		p=$((20000 + RANDOM % 12000))
		[[ " ${ports:=} " == *" $p "* ]] || (: <"/dev/tcp/127.0.0.1/$p") 2>/dev/null || break
	done
	ports+=" $p"
	printf -v "$1" %s "$p"
}

start() { # name, command...
	local name=$1
	shift
	mkdir -p "$tmp/$name"
	TMPDIR=$tmp/$name "$@" >"$tmp/$name.log" 2>&1 &
	pids+=($!)
}

get() { "$bin/kubectl" --kubeconfig=/dev/null --server="$1" get --raw "$2" >/dev/null 2>&1; }
kube() { "$bin/kubectl" --kubeconfig="$tmp/kubeconfig" "$@"; }

ready() { # name, check...: of the part started last
	local name=$1 from=$SECONDS
	shift
	until "$@"; do
		kill -0 "${pids[-1]}" 2>/dev/null || fail "$name has ended" "$name"
		[ $((SECONDS - from)) -lt 60 ] || fail "$name is not ready after 60 s" "$name"
		sleep 0.2
	done
	echo "$name is ready after $((SECONDS - from)) s"
}

control_plane() {
	port etcd
	port peer
	port api
	start etcd "$bin/etcd" --data-dir="$tmp/etcd/data" --unsafe-no-fsync \
		--listen-client-urls="http://127.0.0.1:$etcd" --advertise-client-urls="http://127.0.0.1:$etcd" \
		--listen-peer-urls="http://127.0.0.1:$peer" --initial-advertise-peer-urls="http://127.0.0.1:$peer" \
		--initial-cluster="default=http://127.0.0.1:$peer"
	ready etcd get "http://127.0.0.1:$etcd" /readyz

	local token
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	echo "$token,smoke,smoke,system:masters" >"$tmp/tokens"
	cat >"$tmp/kubeconfig" <<-END
		apiVersion: v1
		kind: Config
		current-context: smoke
		contexts: [{name: smoke, context: {cluster: smoke, user: smoke, namespace: argocd}}]
		users: [{name: smoke, user: {token: $token}}]
		clusters: [{name: smoke, cluster: {server: "https://127.0.0.1:$api", certificate-authority: $tmp/certs/apiserver.crt}}]
	END
	# The server makes its own certificate; its key also signs service account tokens here.
	start kube-apiserver "$bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$etcd" \
		--bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port="$api" --endpoint-reconciler-type=none \
		--cert-dir="$tmp/certs" --token-auth-file="$tmp/tokens" --authorization-mode=RBAC \
		--service-cluster-ip-range=10.0.0.0/24 --service-account-issuer="https://127.0.0.1:$api" \
		--service-account-signing-key-file="$tmp/certs/apiserver.key" \
		--service-account-key-file="$tmp/certs/apiserver.key" --disable-admission-plugins=ServiceAccount
	ready kube-apiserver eval 'kube get --raw /readyz >/dev/null 2>&1'

	local crds=()
	for d in "$bin"/crds/*; do crds+=(-f "$d/"); done
	kube apply --server-side "${crds[@]}" >/dev/null
	kube wait --for=condition=Established crd --all >/dev/null
	for ns in flux-system argocd; do kube create namespace "$ns" >/dev/null; done
}

flux() {
	local name metrics health files
	port files
	mkdir -p "$tmp/artifacts"
	for name in source-controller kustomize-controller; do
		local own=()
		if [ "$name" = source-controller ]; then
			own=(--storage-path="$tmp/artifacts" --storage-addr="127.0.0.1:$files" --storage-adv-addr="127.0.0.1:$files")
		fi
		port metrics
		port health
		start "$name" env KUBECONFIG="$tmp/kubeconfig" RUNTIME_NAMESPACE=flux-system TUF_ROOT="$tmp/$name" \
			"$bin/$name" "${own[@]}" --metrics-addr="127.0.0.1:$metrics" --health-addr="127.0.0.1:$health" --events-addr=
		ready "$name" get "http://127.0.0.1:$health" /readyz
	done
}

argo() {
	local redis repo repo_metrics metrics
	if ! command -v redis-server >/dev/null; then
		[ "${CI:-}" != true ] || fail "redis-server is needed for Argo CD" redis
		echo "Argo CD is skipped: redis-server is not installed"
		return
	fi
	port redis
	start redis redis-server --bind 127.0.0.1 --port "$redis" --save "" --appendonly no --dir "$tmp"
	ready redis eval "(: <'/dev/tcp/127.0.0.1/$redis') 2>/dev/null"

	git init -q -b main "$tmp/repository"
	mkdir "$tmp/repository/live"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: smoke\n' >"$tmp/repository/live/configmap.yaml"
	git -C "$tmp/repository" add live
	git -C "$tmp/repository" -c user.name=smoke -c user.email=smoke@example.invalid commit -qm smoke
	kube apply --server-side -f - >/dev/null <<-END
		{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, labels: {app.kubernetes.io/part-of: argocd}}}
		---
		{apiVersion: v1, kind: Secret, metadata: {name: argocd-secret, labels: {app.kubernetes.io/part-of: argocd}}, stringData: {server.secretkey: smoke}}
		---
		apiVersion: argoproj.io/v1alpha1
		kind: AppProject
		metadata: {name: default}
		spec: {sourceRepos: ["*"], destinations: [{server: "*", namespace: "*"}], clusterResourceWhitelist: [{group: "*", kind: "*"}]}
		---
		apiVersion: argoproj.io/v1alpha1
		kind: Application
		metadata: {name: smoke}
		spec:
		  project: default
		  source: {repoURL: "file://$tmp/repository", path: live, targetRevision: main}
		  destination: {server: "https://kubernetes.default.svc", namespace: default}
	END

	port repo
	port repo_metrics
	port metrics
	mkdir "$tmp/argo"
	local env=(env ARGOCD_GPG_ENABLED=false ARGOCD_TLS_DATA_PATH="$tmp/argo" ARGOCD_SSH_DATA_PATH="$tmp/argo"
		ARGOCD_PLUGINSOCKFILEPATH="$tmp/argo" ARGOCD_ASK_PASS_SOCK="$tmp/ask.sock" ARGOCD_FAKE_IN_CLUSTER=true
		KUBECONFIG="$tmp/kubeconfig")
	start argocd-repo-server "${env[@]}" ARGOCD_BINARY_NAME=argocd-repo-server "$bin/argocd" --disable-tls \
		--address 127.0.0.1 --port "$repo" --metrics-address 127.0.0.1 --metrics-port "$repo_metrics" --redis "127.0.0.1:$redis"
	ready argocd-repo-server get "http://127.0.0.1:$repo_metrics" "/healthz?full=true"
	start argocd-application-controller "${env[@]}" ARGOCD_BINARY_NAME=argocd-application-controller "$bin/argocd" \
		--namespace argocd --metrics-port "$metrics" --redis "127.0.0.1:$redis" \
		--repo-server "127.0.0.1:$repo" --repo-server-plaintext
	ready argocd-application-controller get "http://127.0.0.1:$metrics" /healthz
	ready "argocd-application-controller's first comparison" eval \
		'[ "$(kube get application smoke -o "jsonpath={.status.sync.status}")" = OutOfSync ]'
}

control_plane
flux
argo
