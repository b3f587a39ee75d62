// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// obj decodes JSON.
func obj(t *testing.T, s string) any {
	t.Helper()
	v, err := compare.Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCaseY03_CRLFAndBOMAndNoFinalNewline: only the value's bytes differ; new lines end like the file's.
func TestCaseY03_CRLFAndBOMAndNoFinalNewline(t *testing.T) {
	g := NewWithT(t)
	src := "\xef\xbb\xbfapiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: boat\r\ndata:\r\n  level: info"
	base := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"boat"},"data":{%s}}`
	edit := func(src, data string) string {
		t.Helper()
		res, err := Edit([]byte(src), 0, obj(t, fmt.Sprintf(base, data)), Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(res.Notes).To(BeEmpty())
		return string(res.File)
	}
	changed := edit(src, `"level":"debug"`)
	g.Expect(changed).To(Equal(strings.Replace(src, "info", "debug", 1)))
	g.Expect(edit(changed, `"level":"info"`)).To(Equal(src))
	added := edit(src, `"level":"info","run.sh":"a\nb","z":"1"`)
	g.Expect(added).To(Equal(src + "\r\n  run.sh: |-\r\n    a\r\n    b\r\n  z: \"1\""))
	g.Expect(edit(added, `"level":"info"`)).To(Equal(src))
	block := edit(src, `"level":"info","run.sh":"a\nb\n"`)
	g.Expect(block).To(Equal(src+"\r\n  run.sh: |\r\n    a\r\n    b\r\n"), "a block's last line break needs a line break")
}

// TestScenario24_SiblingsKeepTheirBytes: comments, odd key order, single quotes; the sibling has CRLF.
func TestScenario24_SiblingsKeepTheirBytes(t *testing.T) {
	g := NewWithT(t)
	sibling := "kind: 'Odd'\r\n# c\r\napiVersion:   \"x/v1\"\r\nmetadata: {name: odd}\r\n"
	src := "\ufeff" + sibling + "---\r\nkind: ConfigMap # k\r\ndata:\r\n  'level': 'info'   # l\r\napiVersion: v1\r\nmetadata: {name: boat}\r\n---\r\n" + sibling
	res, err := Edit([]byte(src), 1, obj(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"boat"},"data":{"level":"it's"}}`), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(res.File)).To(Equal(strings.Replace(src, "'info'", "'it''s'", 1)))
}

// words are strings that some reader takes for something else.
var words = map[string]any{
	"a": "no", "b": "0123", "c": "1e3", "d": "", "e": "null", "f": "1_000", "g": "0x1F", "h": "~", "i": "2024-01-01",
	"j": "12:30:45", "k": "=", "l": " lead", "m": "a: b", "n": "#x", "o": "-", "p": "y",
	"q": "on", "r": "0o17", "s": "0b1", "t": "1.", "u": ".5", "v": "+1", "w": ".inf", "x": "1:20", "z": "<<", "aa": "08",
	"ab": "tab\t", "ac": "trail ", "ad": "x #y", "ae": "- a", "af": "? a", "ag": "a:", "ah": "True", "ai": "190:20:30.15",
	"aj": "é\u0085\u2028", "ak": "\U0001F600", "al": "'", "am": "\"", "an": "\\", "ao": "%x", "ap": "@x", "aq": "`x", "ar": "!x",
	"as": "&x", "at": "*x", "au": "{x}", "av": "[x]", "aw": "---", "ax": "...", "ay": "a\r\nb", "az": "|", "ba": ">", "bb": "x]",
}

// yaml11 is what a YAML 1.1 reader takes for another type when it is plain: null, a boolean, a number in any base, a date,
// the merge key and the default value.
const yaml11 = `^(?:|~|null|Null|NULL|[yYnN]|[yY]es|YES|[nN]o|NO|[tT]rue|TRUE|[fF]alse|FALSE|[oO]n|ON|[oO]ff|OFF|=|<<` +
	`|[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?[0-9][0-9_]*|[-+]?0x[0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?` +
	`|[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?)$`

// TestCaseY10_WordsAndNumbersStayText: the reader of kubectl gives back the same strings, and so do we; words and
// numbers are in quotes, so that a YAML 1.1 reader has no choice.
func TestCaseY10_WordsAndNumbersStayText(t *testing.T) {
	g := NewWithT(t)
	desired := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "boat"}, "data": words}
	out, err := Emit(desired)
	g.Expect(err).NotTo(HaveOccurred())
	var back map[string]any
	g.Expect(sigsyaml.Unmarshal(out, &back)).To(Succeed())
	g.Expect(back["data"]).To(Equal(words))
	root, err := yamldoc.Parse(out)
	g.Expect(err).NotTo(HaveOccurred())
	for _, p := range root.Get("data").Pairs {
		if len(p.Key.Value) == 1 && p.Key.Value <= "p" {
			g.Expect(p.Value.Style).NotTo(Equal(yamldoc.Plain), p.Key.Value)
		}
		if p.Value.Style == yamldoc.Plain {
			g.Expect(p.Value.Value).NotTo(MatchRegexp(yaml11), p.Key.Value)
		}
		g.Expect(p.Key.Style != yamldoc.Plain).To(Equal(p.Key.Value == "n" || p.Key.Value == "y"), p.Key.Value)
	}
	// Plain where nobody can differ.
	for _, s := range []string{"1.2.3", "10.0.0.1", "500m", "10Gi", "--port=80", "a/b:1", ":8080", "https://x/y?z=1", "a,b", "x=y", "_", ".", "-x", "é"} {
		g.Expect(plainSafe(s, false)).To(BeTrue(), s)
	}
}

// TestCaseY10_QuotesStayInPlace: an edit keeps the quotes that were there.
func TestCaseY10_QuotesStayInPlace(t *testing.T) {
	g := NewWithT(t)
	res, err := Edit([]byte("a: 'x'\nb: \"y z\"\nc: plain\nd: '1'\ne: \"2\"\n"), 0, obj(t, `{"a":"no","b":"x","c":"z","d":"one","e":"two"}`), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(res.File)).To(Equal("a: 'no'\nb: \"x\"\nc: z\nd: 'one'\ne: \"two\"\n"))
}

// TestUndo_ForcedQuotes: a plain text that needed quotes for a while is plain again.
func TestUndo_ForcedQuotes(t *testing.T) {
	g := NewWithT(t)
	src := []byte("kind: Demo\nspec:\n  version: abc # v\n  n: 0644\n  f: 1.50\n  b: True\n")
	before := obj(t, `{"kind":"Demo","spec":{"version":"abc","n":420,"f":1.5,"b":true}}`)
	for _, v := range []string{`"1.29"`, `"yes"`, `"null"`, `"a\nb"`, `"a: b"`, `12`, `null`, `{"a":"b"}`, `[1,"x"]`} {
		res, err := Edit(src, 0, obj(t, `{"kind":"Demo","spec":{"version":`+v+`,"n":493,"f":2,"b":false}}`), Options{})
		g.Expect(err).NotTo(HaveOccurred())
		back, err := Edit(res.File, 0, before, Options{})
		g.Expect(err).NotTo(HaveOccurred())
		if v != "null" { // null is absent: the line went
			g.Expect(string(back.File)).To(Equal(string(src)), v)
		}
	}
}

// TestCaseY15_CreateAndUpdateAgree: what was created is not reformatted by its first update.
func TestCaseY15_CreateAndUpdateAgree(t *testing.T) {
	g := NewWithT(t)
	text := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"z":"1","a":"2"},"annotations":{"x":"y"},"namespace":"dock","name":"boat"},
	"spec":{"replicas":%d,"template":{"metadata":{"labels":{"app":"boat"}},"spec":{"containers":[{"name":"web","image":"x:1","args":["--a","yes","a: b"],
	"command":["sh","-c","echo one\necho two\n"],"env":[],"resources":{}},{"name":"side","ports":[{"containerPort":80}],"nested":[[1,2],[{"a":[]}]]}]}}}}`
	out, err := Emit(obj(t, fmt.Sprintf(text, 1)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(Equal(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: boat
  namespace: dock
  labels:
    a: "2"
    z: "1"
  annotations:
    x: "y"
spec:
  replicas: 1
  template:
    metadata:
      labels:
        app: boat
    spec:
      containers:
        - args:
            - --a
            - "yes"
            - "a: b"
          command:
            - sh
            - -c
            - |
              echo one
              echo two
          env: []
          image: x:1
          name: web
          resources: {}
        - name: side
          nested:
            - - 1
              - 2
            - - a: []
          ports:
            - containerPort: 80
`))
	res, err := Edit(out, 0, obj(t, fmt.Sprintf(text, 1)), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(res.Outcome).To(Equal(NoChange))
	res, err = Edit(out, 0, obj(t, fmt.Sprintf(text, 2)), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(res.File)).To(Equal(strings.Replace(string(out), "replicas: 1", "replicas: 2", 1)))
}

// TestEmit_Errors: what is no document, or cannot be written, is an error without values.
func TestEmit_Errors(t *testing.T) {
	g := NewWithT(t)
	for _, v := range []any{nil, "x", []any{}, map[string]any{}, map[string]any{"a": "\xff secret"}} {
		out, err := Emit(v)
		g.Expect(err).To(HaveOccurred())
		g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
		g.Expect(out).To(BeNil())
	}
}

// TestScenario93_EncryptedSiblingUntouched: the plain document changes, the encrypted bytes do not.
func TestScenario93_EncryptedSiblingUntouched(t *testing.T) {
	g := NewWithT(t)
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n    pw: ENC[AES256_GCM,data:xxx=,iv:y,tag:z,type:str]\nsops:\n    mac: ENC[AES256_GCM,data:m]\n"
	src := secret + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n---\n" + secret
	res, err := Edit([]byte(src), 1, obj(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"c","b":"d"}}`), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(res.File)).To(Equal(strings.Replace(src, "{a: b}", "{a: c, b: d}", 1)))
}

// TestScenario33_WrittenTwice: the second run changes no byte.
func TestScenario33_WrittenTwice(t *testing.T) {
	g := NewWithT(t)
	desired := obj(t, `{"kind":"Demo","spec":{"a":[3,1,2],"b":{"c":"yes"}}}`)
	res, err := Edit([]byte("kind: Demo\nspec:\n  a: [1,2,3]\n"), 0, desired, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(res.Outcome).To(Equal(Patched))
	again, err := Edit(res.File, 0, desired, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Outcome).To(Equal(NoChange))
	g.Expect(&again.File[0]).To(BeIdenticalTo(&res.File[0]), "the very same bytes")
}

// TestEdit_Parses: one parse finds that nothing changes, one more proves an edit.
func TestEdit_Parses(t *testing.T) {
	g := NewWithT(t)
	src := []byte("kind: Demo\nlist:\n- a: 1\n- b: 2 # c\ntext: |\n  x\n  y\n")
	for want, v := range []string{
		1: `{"kind":"Demo","list":[{"a":1},{"b":2}],"text":"x\ny\n"}`,
		2: `{"kind":"Demo","list":[{"b":3},{"c":[]},{"a":1}],"text":"x\nz\n","more":{"d":"e"}}`,
	} {
		if v == "" {
			continue
		}
		res, err := Edit(src, 0, obj(t, v), Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(res.Parses).To(Equal(want))
	}
}

// TestEdit_Errors: no document, an empty one, one that cannot be read; lines are those of the file.
func TestEdit_Errors(t *testing.T) {
	g := NewWithT(t)
	src := []byte("a: 1\n---\n# nothing\n---\nb: [\n---\nc: .inf\n")
	for i, want := range map[int]string{
		-1: "the file has no document -1", 4: "the file has no document 4", 1: "line 3: the document is empty",
		2: "did not find expected node content", 3: "line 7: the value has no JSON form as !!float",
	} {
		_, err := Edit(src, i, obj(t, `{"a":2}`), Options{})
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

// TestEdit_Rungs: an edit of one node may not be possible; the document is written anew only when that is allowed, and
// keeps its opening comments.
func TestEdit_Rungs(t *testing.T) {
	g := NewWithT(t)
	src := []byte("# head\n\n[a, b]\n")
	_, err := Edit(src, 0, obj(t, `{"kind":"Demo"}`), Options{})
	g.Expect(err).To(MatchError("line 3: unmapped text at : the document's own shape changes"))
	res, err := Edit(src, 0, obj(t, `{"kind":"Demo"}`), Options{AllowReplace: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(res.Outcome).To(Equal(Replaced))
	g.Expect(string(res.File)).To(Equal("# head\n\nkind: Demo\n"))
	g.Expect(res.Notes).To(HaveLen(1))
	g.Expect(res.Notes[0].Rung).To(Equal(RungDocument))
	res, err = Edit([]byte("a:\n- - x\n  - y\n  # c\n  - z: 1\n"), 0, obj(t, `{"a":[[{"z":1},"x","y"]]}`), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(res.File)).To(Equal("a:\n- - z: 1\n  - x\n  - \"y\"\n"))
}
