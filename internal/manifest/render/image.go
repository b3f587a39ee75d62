// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Image is an image reference in kustomize's parts.
type Image struct{ Name, Tag, Digest string }

// ParseImage splits a reference as kustomize does: [[host[:port]/]component/]component[:tag][@digest].
func ParseImage(s string) Image {
	search, skip := s, 0
	if i := strings.Index(s, "/"); i > 0 {
		search, skip = s[i:], i
	}
	at, colon := strings.Index(search, "@"), strings.Index(search, ":")
	switch {
	case at < 0 && colon < 0:
		return Image{Name: s}
	case at >= 0 && (colon < 0 || at < colon):
		return Image{Name: s[:skip+at], Digest: s[skip+at+1:]}
	case at >= 0:
		return Image{Name: s[:skip+colon], Tag: s[skip+colon+1 : skip+at], Digest: s[skip+at+1:]}
	}
	return Image{Name: s[:skip+colon], Tag: s[skip+colon+1:]}
}

// String joins the parts.
func (i Image) String() string {
	s := i.Name
	if i.Tag != "" {
		s += ":" + i.Tag
	}
	if i.Digest != "" {
		s += "@" + i.Digest
	}
	return s
}

// Matches reports whether an images entry of this name changes a reference; the name is a pattern (git-writer 6.6).
func Matches(reference, name string) bool {
	re, err := regexp.Compile("^" + name + `(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?$`)
	return err == nil && re.MatchString(reference)
}

// Slots returns the pointers of an object's fields that hold image references: image of containers, initContainers and
// ephemeralContainers, and image.reference of volumes.
func Slots(v any) []string {
	m, _ := v.(map[string]any)
	if m["kind"] == "CustomResourceDefinition" {
		return nil
	}
	var out []string
	var walk func(v any, ptr string)
	walk = func(v any, ptr string) {
		switch t := v.(type) {
		case map[string]any:
			for k, e := range t {
				at := ptr + "/" + EscapePointer(k)
				if list, ok := e.([]any); ok {
					out = append(out, slotsOf(k, list, at)...)
				}
				walk(e, at)
			}
		case []any:
			for i, e := range t {
				walk(e, ptr+"/"+strconv.Itoa(i))
			}
		}
	}
	walk(v, "")
	slices.Sort(out)
	return out
}

func slotsOf(key string, list []any, at string) []string {
	var out []string
	for i, e := range list {
		m, _ := e.(map[string]any)
		ptr := at + "/" + strconv.Itoa(i) + "/image"
		switch key {
		case "containers", "initContainers", "ephemeralContainers":
			if _, ok := m["image"].(string); ok {
				out = append(out, ptr)
			}
		case "volumes":
			im, _ := m["image"].(map[string]any)
			if _, ok := im["reference"].(string); ok {
				out = append(out, ptr+"/reference")
			}
		}
	}
	return out
}
