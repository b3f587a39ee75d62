// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

func neatCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "neat [FILE]",
		Short: "Print objects without what no user set",
		Long: "Print the sanitized form of live objects, as it would be written into a new file. FILE may hold many YAML or\n" +
			"JSON documents, lists too; without it, or with -, standard input is read.",
		Example: "  kubectl get deployment boat -o yaml | gitops-reverser neat",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			}
			return neat(s, name)
		},
	}
}

func neat(s streams, name string) error {
	objects, err := readObjects(s.in, name)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		fmt.Fprintf(s.err, "%s: there is no object in it\n", name)
	}
	z, err := sanitize.New(sanitize.Config{})
	if err != nil {
		return err
	}
	var out []byte
	for _, o := range objects {
		clean, err := z.Neat(o.raw)
		if err != nil {
			return fmt.Errorf("%s, document %d: %w", name, o.index+1, err)
		}
		v, err := compare.Decode(clean)
		if err != nil {
			return err
		}
		if out, err = yamledit.Append(out, v); err != nil {
			return fmt.Errorf("%s, document %d: %w", name, o.index+1, err)
		}
	}
	_, err = s.out.Write(out)
	return err
}

// liveObject is one object of an input file, as JSON.
type liveObject struct {
	head  yamldoc.Head
	raw   []byte
	file  string
	index int
}

// readObjects reads the objects of a file of YAML or JSON documents; "-" is standard input. Lists are taken apart.
func readObjects(stdin io.Reader, name string) ([]liveObject, error) {
	var b []byte
	var err error
	if name == "-" {
		b, err = io.ReadAll(stdin)
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	return objectsIn(b, name)
}

// objectsIn returns the objects of a YAML text.
func objectsIn(b []byte, name string) ([]liveObject, error) {
	var out []liveObject
	f := yamldoc.Split(b)
	for i, d := range f.Docs {
		if d.Empty {
			continue
		}
		n, err := yamldoc.Parse(f.Body(b, i))
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", name, i+1, err)
		}
		v, err := n.JSON()
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", name, i+1, err)
		}
		objects, err := takeApart(v)
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", name, i+1, err)
		}
		for _, o := range objects {
			out = append(out, liveObject{head: headOf(o), raw: compare.Canonical(o), file: name, index: i})
		}
	}
	return out, nil
}

// takeApart returns an object itself, or the items of a list.
func takeApart(v any) ([]map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is no object")
	}
	kind, _ := m["kind"].(string)
	items, isList := m["items"].([]any)
	if !isList || len(kind) < 4 || kind[len(kind)-4:] != "List" {
		if h := headOf(m); h.Kind == "" || h.APIVersion == "" {
			return nil, fmt.Errorf("the object has no apiVersion or no kind")
		}
		return []map[string]any{m}, nil
	}
	var out []map[string]any
	for _, e := range items {
		o, err := takeApart(e)
		if err != nil {
			return nil, err
		}
		out = append(out, o...)
	}
	return out, nil
}

func headOf(m map[string]any) yamldoc.Head {
	meta, _ := m["metadata"].(map[string]any)
	str := func(v any) string { s, _ := v.(string); return s }
	h := yamldoc.Head{
		APIVersion: str(m["apiVersion"]), Kind: str(m["kind"]), Namespace: str(meta["namespace"]), Name: str(meta["name"]),
		IsMap: true,
	}
	h.Group, h.Version = splitVersion(h.APIVersion)
	return h
}

func splitVersion(apiVersion string) (group, version string) {
	for i := range apiVersion {
		if apiVersion[i] == '/' {
			return apiVersion[:i], apiVersion[i+1:]
		}
	}
	return "", apiVersion
}
