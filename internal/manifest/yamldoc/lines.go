// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

// BreakLen returns the length in bytes of the line break at offset i of b: CRLF, LF, CR, NEL, LS or PS, the breaks
// yaml v3 counts; 0 when there is none.
func BreakLen(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch b[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(b) && b[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2:
		if i+1 < len(b) && b[i+1] == 0x85 {
			return 2
		}
	case 0xE2:
		if i+2 < len(b) && b[i+1] == 0x80 && (b[i+2] == 0xA8 || b[i+2] == 0xA9) {
			return 3
		}
	}
	return 0
}

// LineEnd returns the offset of the line break at or after i, or len(b).
func LineEnd(b []byte, i int) int {
	for i < len(b) && BreakLen(b, i) == 0 {
		i++
	}
	return i
}

// LineStart returns the offset where the line that holds offset i starts.
func LineStart(b []byte, i int) int {
	for i > 0 {
		switch {
		case b[i-1] == '\n',
			b[i-1] == '\r' && !(i < len(b) && b[i] == '\n'),
			b[i-1] == 0x85 && i >= 2 && b[i-2] == 0xC2,
			(b[i-1] == 0xA8 || b[i-1] == 0xA9) && i >= 3 && b[i-2] == 0x80 && b[i-3] == 0xE2:
			return i
		}
		i--
	}
	return 0
}
