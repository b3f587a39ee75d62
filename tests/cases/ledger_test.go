// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// elsewhere names, as "folder TestName", the test that proves something under another name.
type elsewhere string

// notServed says why this version has nothing to prove.
type notServed string

// caseExceptions are the cases without a test of their number.
var caseExceptions = map[string]any{
	"A01": noAttribution, "A04": noAttribution, "A05": noAttribution,
	"A06": noAttribution, "A08": noAttribution, "A09": noAttribution,
	"U07": notServed("nothing asks an applier in this version: FluxTrigger and ArgoCDTrigger have no controller"),
}

const noAttribution = notServed("this version knows no author: there is no audit ingress and no attribution")

// scenarioExceptions are the scenarios of git-writer 12 without a test of their number.
var scenarioExceptions = map[int]any{
	6: elsewhere("internal/watch TestScenario55_StatusUpdates"),
	7: elsewhere("internal/watch TestScenario58_RefusedUpdateIsOfferedAgain"),
	// Ownership of paths and branches: there the scenarios have the numbers of the api chapter.
	21: elsewhere("internal/claims TestResolve"),
	22: elsewhere("internal/claims TestResolve"),
	23: elsewhere("internal/claims TestResolve"),
	60: elsewhere("internal/watch TestScenario43_DropDuringAReplay"),
}

// TestEveryCaseIsProved: each heading of cases.md.
func TestEveryCaseIsProved(t *testing.T) {
	numbers := headings(t, "cases/cases.md", `(?m)^### ([A-Z][0-9]{2}) `)
	NewWithT(t).Expect(len(numbers)).To(BeNumerically(">=", 85), "cases.md holds all its cases")
	p := readProofs(t)
	ledger(t, p, numbers, caseExceptions, func(n string) []string { return p.cases[n] })
}

// TestEveryScenarioIsProved: each numbered line of git-writer 12.
func TestEveryScenarioIsProved(t *testing.T) {
	numbers := headings(t, "spec/git-writer.md", `(?m)^([0-9]+)\. Given `)
	NewWithT(t).Expect(numbers).To(HaveLen(110))
	p := readProofs(t)
	exceptions := map[string]any{}
	for n, e := range scenarioExceptions {
		exceptions[strconv.Itoa(n)] = e
	}
	ledger(t, p, numbers, exceptions, func(s string) []string {
		n, _ := strconv.Atoi(s)
		return p.scenarios[n]
	})
}

func headings(t *testing.T, name, pattern string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testshared.Dir(t), filepath.FromSlash(name)))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(b), -1) {
		out = append(out, m[1])
	}
	return out
}

// ledger reports every number that nothing proves and every exception that is not true.
func ledger(t *testing.T, p *proofs, numbers []string, exceptions map[string]any, found func(string) []string) {
	t.Helper()
	for _, n := range numbers {
		e, excused := exceptions[n]
		switch places := found(n); {
		case len(places) == 0 && !excused:
			t.Errorf("%s: no test carries this number", n)
		case len(places) > 0 && excused:
			t.Errorf("%s: is tested by %s; take its exception out", n, places[0])
		case excused:
			if err := check(p, e); err != nil {
				t.Errorf("%s: %v", n, err)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(exceptions)) {
		if !slices.Contains(numbers, n) {
			t.Errorf("%s: there is no such number", n)
		}
	}
}

func check(p *proofs, exception any) error {
	switch e := exception.(type) {
	case elsewhere:
		if !p.tests[string(e)] {
			return fmt.Errorf("there is no test %s", e)
		}
	case notServed:
		if e == "" {
			return fmt.Errorf("no reason is given")
		}
	}
	return nil
}
