// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

// The functions below walk over JSON bytes without decoding them. They accept a little more than JSON does (the API
// server wrote the bytes) but never read outside them, and whatever they accept they delimit right.

// skipSpace returns the index of the next byte that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the index behind the string that starts at i.
func skipString(b []byte, i int) (int, bool) {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
		}
	}
	return i, false
}

// skipValue returns the index behind the value that starts at i. Brackets must match in kind.
func skipValue(b []byte, i int) (int, bool) {
	if i >= len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	from := i
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return i, i > from
		case '"', '{', '[', ':':
			return i, false
		}
		i++
	}
	return i, i > from
}

// maxDepth bounds nesting; the API server refuses deeper objects itself.
const maxDepth = 10000

func skipNested(b []byte, i int) (int, bool) {
	// One bit per level says whether it is an object; 64 levels need no allocation.
	var few [1]uint64
	kinds := few[:]
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end, ok := skipString(b, i)
			if !ok {
				return end, false
			}
			i = end
			continue
		case '{', '[':
			if depth/64 >= len(kinds) {
				kinds = append(kinds, 0)
			}
			if depth > maxDepth {
				return i, false
			}
			bit := uint64(1) << (depth % 64)
			kinds[depth/64] &^= bit
			if b[i] == '{' {
				kinds[depth/64] |= bit
			}
			depth++
		case '}', ']':
			depth--
			if isObject := kinds[depth/64]&(1<<(depth%64)) != 0; isObject != (b[i] == '}') {
				return i, false
			}
			if depth == 0 {
				return i + 1, true
			}
		}
		i++
	}
	return i, false
}

// members calls yield for each member of the object that starts at i, with its raw key (without quotes, escapes as
// written) and the bounds of its value, until yield returns false. It returns the index behind the object, and false
// when the bytes are no object.
func members(b []byte, i int, yield func(key []byte, from, to int) bool) (int, bool) {
	if i >= len(b) || b[i] != '{' {
		return i, false
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, true
	}
	for i < len(b) {
		if b[i] != '"' {
			return i, false
		}
		keyEnd, ok := skipString(b, i)
		if !ok {
			return keyEnd, false
		}
		key := b[i+1 : keyEnd-1]
		i = skipSpace(b, keyEnd)
		if i >= len(b) || b[i] != ':' {
			return i, false
		}
		from := skipSpace(b, i+1)
		to, ok := skipValue(b, from)
		if !ok {
			return to, false
		}
		if !yield(key, from, to) {
			return to, false
		}
		i = skipSpace(b, to)
		if i >= len(b) {
			return i, false
		}
		if b[i] == '}' {
			return i + 1, true
		}
		if b[i] != ',' {
			return i, false
		}
		i = skipSpace(b, i+1)
	}
	return i, false
}
