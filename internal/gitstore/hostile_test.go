// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"os"
	"path/filepath"
	"testing"
)

// hostile runs the tests with an ambient Git configuration that would break every one of them (case G18): signing,
// CRLF conversion, hooks, address rewriting, another user and a proxy.
func hostile(m *testing.M) int {
	home, err := os.MkdirTemp("", "gitstore-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	config := "[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n\thooksPath = /x\n[user]\n\tname = Host\n\temail = host@example.com\n" +
		"[http]\n\tproxy = http://127.0.0.1:1\n\textraHeader = X-Ambient: yes\n[url \"http://127.0.0.1:1/\"]\n\tinsteadOf = http://\n[credential]\n\thelper = /bin/false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"),
		"GIT_DIR": "/x", "GIT_AUTHOR_NAME": "Env", "GIT_COMMITTER_EMAIL": "env@example.com", "GIT_SSH_COMMAND": "/bin/false",
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
