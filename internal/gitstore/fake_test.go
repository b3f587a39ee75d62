// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"bytes"
	"net/http"
)

// record keeps the body of a request and lets it pass.
func record(body *[]byte) func(*http.Request, []byte) (int, string) {
	return func(_ *http.Request, b []byte) (int, string) {
		*body = bytes.Clone(b)
		return 0, ""
	}
}

// reportUnpack answers a push with a failed unpacking.
func reportUnpack(why string) func(http.ResponseWriter, *http.Request, []byte) {
	return func(rw http.ResponseWriter, _ *http.Request, _ []byte) {
		rw.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		report := pkt("unpack "+why+"\n") + pkt("ng refs/heads/main unpacker error\n") + "0000"
		_, _ = rw.Write([]byte(pkt("\x01"+report) + "0000"))
	}
}
