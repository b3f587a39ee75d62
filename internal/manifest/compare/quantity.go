// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math/big"
	"strings"
)

// sameQuantity reports whether two spellings of a resource quantity mean the same amount: "1000m" and 1.
func sameQuantity(a, b any) bool {
	x, ok := quantity(a)
	if !ok {
		return false
	}
	y, ok := quantity(b)
	return ok && x.Cmp(y) == 0
}

var suffixes = map[string]*big.Rat{
	"": pow(10, 0), "n": pow(10, -9), "u": pow(10, -6), "m": pow(10, -3), "k": pow(10, 3), "M": pow(10, 6),
	"G": pow(10, 9), "T": pow(10, 12), "P": pow(10, 15), "E": pow(10, 18),
	"Ki": pow(1024, 1), "Mi": pow(1024, 2), "Gi": pow(1024, 3), "Ti": pow(1024, 4), "Pi": pow(1024, 5),
	"Ei": pow(1024, 6),
}

func pow(base, exp int64) *big.Rat {
	n := exp
	if n < 0 {
		n = -n
	}
	r := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(n), nil))
	if exp < 0 {
		r.Inv(r)
	}
	return r
}

// quantity reads a number or the text of a quantity. Texts of unusual length are not quantities.
func quantity(v any) (*big.Rat, bool) {
	s, isText := v.(string)
	if !isText {
		var ok bool
		if s, ok = numberText(v); !ok {
			return nil, false
		}
	}
	if len(s) == 0 || len(s) > 40 {
		return nil, false
	}
	end := 0
	for end < len(s) && strings.IndexByte("+-.0123456789", s[end]) >= 0 {
		end++
	}
	digits, suffix := s[:end], s[end:]
	if digits == "" || strings.LastIndexAny(digits, "+-") > 0 || strings.Count(digits, ".") > 1 ||
		!strings.ContainsAny(digits, "0123456789") {
		return nil, false
	}
	if len(suffix) > 1 && (suffix[0] == 'e' || suffix[0] == 'E') && suffix != "Ei" {
		if len(suffix) > 4 || strings.Trim(suffix[1:], "+-0123456789") != "" {
			return nil, false
		}
		return new(big.Rat).SetString(s)
	}
	unit, ok := suffixes[suffix]
	if !ok {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return nil, false
	}
	return r.Mul(r, unit), true
}
