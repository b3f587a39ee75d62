// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
)

const sopsConfigName = ".sops.yaml"

// bootstrap adds the folder's own files to a write that changes something (git-writer 8.1). Existing files stay, except
// the .sops.yaml this operator wrote, whose recipients follow the spec (decision 50).
func (p sealing) bootstrap() error {
	wanted := p.req.Batch.Bootstrap || p.req.Decision != nil && p.req.Decision.Bootstrap
	if len(p.Work.Changed()) == 0 && !wanted {
		return nil
	}
	for _, f := range placement.Bootstrap() {
		name := p.InFolder(f.Name)
		if taken, err := p.Work.Occupied(name); err != nil {
			return err
		} else if taken {
			continue
		}
		if err := p.Work.Set(name, f.Content); err != nil {
			return err
		}
	}
	if name, rules, err := p.sopsConfig(); err != nil || rules == nil {
		return err
	} else { //nolint:revive // the values belong to this branch
		return p.Work.Set(name, rules)
	}
}

// sopsConfig returns the .sops.yaml to write into the folder; nil when the one there stays.
func (p sealing) sopsConfig() (string, []byte, error) {
	want := p.req.Policy.SOPSConfig
	if want == nil {
		return "", nil, nil
	}
	name := p.InFolder(sopsConfigName)
	have, err := p.Read(name)
	if err != nil {
		return "", nil, err
	}
	if have != nil && (bytes.Equal(have, want) || !bytes.Equal(marker(have), marker(want))) {
		return "", nil, nil
	}
	if have == nil {
		if taken, err := p.Work.Occupied(name); err != nil || taken {
			return "", nil, err
		}
	}
	return name, want, nil
}

// marker returns the first line of a .sops.yaml when it is a comment; its own files start with the same one.
func marker(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("#")) {
		return nil
	}
	return line
}
