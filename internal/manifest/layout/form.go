// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// form is the shape kustomize's decoder expects of a value whose content does not matter here.
type form struct {
	kind   formKind
	fields map[string]form // of a record
	of     *form           // of list items
}

type formKind uint8

const (
	formText formKind = iota
	formFlag
	formTextMap
	formRecord
	formList
)

var (
	aText    = form{kind: formText}
	aFlag    = form{kind: formFlag}
	aTextMap = form{kind: formTextMap}
	texts    = listOf(aText)
)

func listOf(f form) form { return form{kind: formList, of: &f} }

func record(fields map[string]form) form { return form{kind: formRecord, fields: fields} }

// forms are the supported fields that are only checked.
var forms = map[string]form{
	"metadata": record(map[string]form{"name": aText, "namespace": aText, "labels": aTextMap, "annotations": aTextMap}),
	"generatorOptions": record(map[string]form{
		"labels": aTextMap, "annotations": aTextMap, "disableNameSuffixHash": aFlag, "immutable": aFlag,
	}),
	"sortOptions": record(map[string]form{
		"order": aText, "legacySortOptions": record(map[string]form{"orderFirst": texts, "orderLast": texts}),
	}),
	"buildMetadata":     texts,
	"commonLabels":      aTextMap,
	"commonAnnotations": aTextMap,
	"labels": listOf(record(map[string]form{
		"pairs": aTextMap, "includeSelectors": aFlag, "includeTemplates": aFlag, "includeVolumeClaimTemplates": aFlag,
		"fields": listOf(record(map[string]form{"group": aText, "version": aText, "kind": aText, "path": aText,
			"create": aFlag})),
	})),
}

// target and patchOptions are parts of a patches entry.
var (
	target = record(map[string]form{
		"group": aText, "version": aText, "kind": aText, "name": aText, "namespace": aText, "annotationSelector": aText,
		"labelSelector": aText,
	})
	patchOptions = record(map[string]form{"allowNameChange": aFlag, "allowKindChange": aFlag})
)

// conforms reports a problem for everything in a value that is not of the form.
func (d *decoder) conforms(n *yamldoc.Node, field string, f form) {
	r := n.Resolve()
	if r == nil || r.Tag == "!!null" {
		return
	}
	switch f.kind {
	case formText:
		d.text(n, field)
	case formFlag:
		word := r.Tag == "!!str" && r.Style == yamldoc.Plain && boolWord(r.Value)
		if r.Kind != yamldoc.Scalar || r.Tag != "!!bool" && !word {
			d.wrong(r, field, "true or false")
		}
	case formTextMap:
		for _, p := range d.mapping(n, field) {
			d.text(p.Value, field+" "+p.Key.Value)
		}
	case formList:
		for _, item := range d.list(n, field) {
			d.conforms(item, field+" entry", *f.of)
		}
	case formRecord:
		for _, p := range d.mapping(n, field) {
			if inner, ok := f.fields[p.Key.Value]; ok {
				d.conforms(p.Value, field+" "+p.Key.Value, inner)
				continue
			}
			d.problem(d.line(p.Key), "unparseable field", fmt.Sprintf("%s has no field %q", field, p.Key.Value),
				"correct or remove it")
		}
	}
}
