// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// supported are the fields of git-writer 6.1 and how each is read.
var supported = map[string]func(d *decoder, name string, v *yamldoc.Node){
	"namespace":         func(d *decoder, name string, v *yamldoc.Node) { d.out.Namespace = d.text(v, name) },
	"resources":         (*decoder).resources,
	"bases":             (*decoder).resources,
	"images":            (*decoder).images,
	"imageTags":         (*decoder).images,
	"replicas":          (*decoder).replicas,
	"patches":           (*decoder).patches,
	"commonLabels":      (*decoder).transform,
	"commonAnnotations": (*decoder).transform,
	"labels":            (*decoder).transform,
	"buildMetadata":     (*decoder).formed,
	"generatorOptions":  (*decoder).formed,
	"sortOptions":       (*decoder).sortOptions,
}

// deprecated are the supported fields that kustomize warns of, and what to write in their place.
var deprecated = map[string]string{
	"bases": "resources", "imageTags": "images", "commonLabels": "labels with includeSelectors: true",
}

type refusal struct{ message, cure string }

// refused are the fields of git-writer 6.2.
var refused = map[string]refusal{
	"components":         {"components change documents in ways an edit cannot be traced through", ""},
	"configMapGenerator": {"generated ConfigMaps have no document that could be edited", ""},
	"secretGenerator":    {"generated Secrets have no document that could be edited", ""},
	"generators":         {"generators make documents that no file holds", ""},
	"transformers":       {"transformers change documents in ways an edit cannot be traced through", ""},
	"replacements":       {"replacements copy values between documents", ""},
	"vars":               {"vars copy values between documents", ""},
	"validators":         {"validators run programs during the build", ""},
	"namePrefix":         {"namePrefix renames objects, so a document does not carry its object's name", ""},
	"nameSuffix":         {"nameSuffix renames objects, so a document does not carry its object's name", ""},
	"patchesStrategicMerge": {"patchesStrategicMerge is the older form of patches",
		"list the files under patches with `path:`"},
	"patchesJson6902":             {"JSON 6902 patches cannot be edited", ""},
	"helmCharts":                  {"Helm charts are rendered, not stored", ""},
	"helmGlobals":                 {"Helm charts are rendered, not stored", ""},
	"helmChartInflationGenerator": {"Helm charts are rendered, not stored", ""},
	"configurations":              {"configurations change how every transformer works", ""},
	"crds":                        {"crds change how every patch is merged", ""},
	"openapi":                     {"openapi changes how every patch is merged", ""},
}

func known(name string) bool {
	_, a := supported[name]
	_, b := refused[name]
	return a || b || name == "apiVersion" || name == "kind" || name == "metadata"
}

func knownFields() []string {
	return slices.Concat(slices.Sorted(maps.Keys(supported)), slices.Sorted(maps.Keys(refused)),
		[]string{"apiVersion", "kind", "metadata"})
}

func (d *decoder) resources(name string, v *yamldoc.Node) {
	d.out.HasResources = d.out.HasResources || name == "resources"
	for _, n := range d.list(v, name) {
		if s := d.text(n, name+" entry"); s != "" {
			d.out.Resources = append(d.out.Resources, Ref{Field: name, Value: s, Line: d.line(n)})
		} else if n = n.Resolve(); n != nil && n.Kind == yamldoc.Scalar && n.Value == "" {
			d.wrong(n, name+" entry", "a path")
		}
	}
}

// keyed are the readers of an entry's fields; the one of the empty name is called last, with the entry.
type keyed map[string]func(*yamldoc.Node)

// record reads the mappings of a list, each key by the function of its name; any other key is an error, as for
// kustomize.
func (d *decoder) record(name string, v *yamldoc.Node, each func(i int, n *yamldoc.Node) keyed) {
	for i, n := range d.list(v, name) {
		r := n.Resolve()
		if r == nil || r.Kind != yamldoc.Map {
			d.wrong(n, name+" entry", "a mapping")
			continue
		}
		keys := each(i, r)
		for _, p := range r.Pairs {
			read, ok := keys[p.Key.Value]
			if !ok {
				d.problem(d.line(p.Key), "malformed "+name, fmt.Sprintf("%s entry has no field %q", name, p.Key.Value),
					"correct the entry")
				continue
			}
			read(p.Value)
		}
		if done, ok := keys[""]; ok {
			done(r)
		}
	}
}

// imageName is how kustomize builds its pattern from a name: a regular expression, anchored, with tag and digest.
func imageName(name string) error {
	_, err := regexp.Compile("^" + name + "(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?$")
	return err
}

func (d *decoder) images(name string, v *yamldoc.Node) {
	d.record(name, v, func(i int, n *yamldoc.Node) keyed {
		img := Image{Field: name, Index: i, Line: d.line(n)}
		malformed := func(n *yamldoc.Node, why, cure string) { d.problem(d.line(n), "malformed images", why, cure) }
		return keyed{
			"name":    func(n *yamldoc.Node) { img.Name = d.text(n, "images name") },
			"newName": func(n *yamldoc.Node) { img.NewName = d.text(n, "images newName") },
			"newTag":  func(n *yamldoc.Node) { img.NewTag = d.text(n, "images newTag") },
			"digest":  func(n *yamldoc.Node) { img.Digest = d.text(n, "images digest") },
			"tagSuffix": func(n *yamldoc.Node) {
				if !zero(n.Resolve()) {
					malformed(n, "tagSuffix cannot be told apart from the tag it is added to", "write the whole tag as newTag")
				}
			},
			"": func(n *yamldoc.Node) {
				if strings.TrimSpace(img.Name) == "" {
					malformed(n, "an entry has no name", "name the image or remove the entry")
				} else if err := imageName(img.Name); err != nil {
					malformed(n, fmt.Sprintf("name %q is no pattern: %v", img.Name, err), "quote the character with a backslash")
				}
				d.out.Images = append(d.out.Images, img)
			},
		}
	})
}

func (d *decoder) replicas(name string, v *yamldoc.Node) {
	d.record(name, v, func(i int, n *yamldoc.Node) keyed {
		r := Replica{Index: i, Line: d.line(n)}
		malformed := func(n *yamldoc.Node, why string) {
			d.problem(d.line(n), "malformed replicas", why, "correct the entry")
		}
		return keyed{
			"name": func(n *yamldoc.Node) { r.Name = d.text(n, "replicas name") },
			"count": func(n *yamldoc.Node) {
				n = n.Resolve()
				var err error
				if n == nil || n.Tag != "!!int" {
					err = strconv.ErrSyntax
				} else {
					r.Count, err = strconv.ParseInt(n.Value, 0, 64)
				}
				if err != nil || r.Count < 0 {
					malformed(cmpNode(n, v), "count must be a whole number that is not negative")
				}
			},
			"": func(n *yamldoc.Node) {
				if r.Name == "" {
					malformed(n, "an entry has no name")
				}
				d.out.Replicas = append(d.out.Replicas, r)
			},
		}
	})
}

func cmpNode(n, other *yamldoc.Node) *yamldoc.Node {
	if n == nil {
		return other
	}
	return n
}

func (d *decoder) patches(name string, v *yamldoc.Node) {
	if len(d.list(v, name)) > 0 {
		d.out.Transforms = append(d.out.Transforms, name)
	}
	d.record(name, v, func(_ int, n *yamldoc.Node) keyed {
		ref := Ref{Field: name, Line: d.line(n)}
		refuse := func(n *yamldoc.Node, construct, why, cure string) {
			d.out.problems = append(d.out.problems, Problem{Line: d.line(n), Construct: construct, Message: why, Cure: cure})
		}
		return keyed{
			"path": func(n *yamldoc.Node) { ref.Value = d.text(n, "patches path") },
			"patch": func(n *yamldoc.Node) {
				if !zero(n.Resolve()) {
					refuse(n, "inline patch", "a patch inside the kustomization cannot be edited",
						"move the patch into a file and name it with `path:`")
				}
			},
			"target": func(n *yamldoc.Node) {
				d.conforms(n, "patches target", target)
				ref.Selects = !zero(n.Resolve())
			},
			"options": func(n *yamldoc.Node) {
				d.conforms(n, "patches options", patchOptions)
				for _, p := range d.mapping(n, "patches options") {
					if v := p.Value.Resolve(); v != nil && v.Value != "false" {
						refuse(p.Key, "patches options", "a patch that may change names or kinds takes an object off its document", "")
					}
				}
			},
			"": func(*yamldoc.Node) {
				if ref.Value != "" {
					d.out.Patches = append(d.out.Patches, ref)
				}
			},
		}
	})
}

// formed reads a field that changes no document.
func (d *decoder) formed(name string, v *yamldoc.Node) { d.conforms(v, name, forms[name]) }

// transform reads a field that changes documents beyond namespace, images and replicas.
func (d *decoder) transform(name string, v *yamldoc.Node) {
	d.formed(name, v)
	if !zero(v) {
		d.out.Transforms = append(d.out.Transforms, name)
	}
}

func (d *decoder) sortOptions(name string, v *yamldoc.Node) {
	d.formed(name, v)
	if o := v.Get("order"); o != nil && !zero(o) && o.Value != "legacy" && o.Value != "fifo" {
		d.problem(d.line(o), "unparseable field", fmt.Sprintf("sortOptions order %q does not exist", o.Value),
			"write legacy or fifo")
	}
}
