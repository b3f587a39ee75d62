// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

const (
	idA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func pkt(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }

func band(n byte, s string) string { return pkt(string(rune(n)) + s) }

func TestPacketLines(t *testing.T) {
	g := NewWithT(t)
	r := wire.NewReader(strings.NewReader(pkt("hello") + "0004" + "0000" + "0001" + "0002" + pkt("ERR no way\n")))
	for _, want := range []struct {
		kind wire.Packet
		text string
	}{{wire.Data, "hello"}, {wire.Data, ""}, {wire.Flush, ""}, {wire.Delim, ""}, {wire.ResponseEnd, ""}} {
		k, p, err := r.Next()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(k).To(Equal(want.kind))
		g.Expect(string(p)).To(Equal(want.text))
	}
	_, _, err := r.Next()
	var remote *wire.RemoteError
	g.Expect(errors.As(err, &remote)).To(BeTrue())
	g.Expect(remote.Text).To(Equal("no way"))
	_, _, err = r.Next()
	g.Expect(err).To(Equal(io.EOF))

	for in, want := range map[string]error{"00": io.ErrUnexpectedEOF, "0009ab": io.ErrUnexpectedEOF} {
		_, _, err := wire.NewReader(strings.NewReader(in)).Next()
		g.Expect(err).To(MatchError(want), in)
	}
	for _, in := range []string{"0003", "ffff", "<htm", "-001"} {
		_, _, err := wire.NewReader(strings.NewReader(in + strings.Repeat("x", 70000))).Next()
		var syntax *wire.SyntaxError
		g.Expect(errors.As(err, &syntax)).To(BeTrue(), in)
	}
	g.Expect(string(wire.AppendLine(nil, "abc"))).To(Equal("0008abc\n"))
	g.Expect(string(wire.AppendRaw(nil, "abc"))).To(Equal("0007abc"))
}

func TestAdvertisements(t *testing.T) {
	g := NewWithT(t)
	v0 := pkt("# service=git-upload-pack\n") + "0000" +
		pkt(idA+" HEAD\x00multi_ack side-band-64k symref=HEAD:refs/heads/main object-format=sha1\n") +
		pkt(idA+" refs/heads/main\n") + pkt(idB+" refs/tags/v1\n") + pkt(idA+" refs/tags/v1^{}\n") + pkt("shallow "+idB) + "0000"
	a, err := wire.ReadAdvert(wire.NewReader(strings.NewReader(v0)), true, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Version).To(Equal(0))
	g.Expect(a.Head).To(Equal("refs/heads/main"))
	g.Expect(a.Refs).To(HaveLen(3))
	g.Expect(a.Ref("refs/heads/main")).To(Equal(plumbing.NewHash(idA)))
	g.Expect(a.Ref("refs/heads/other").IsZero()).To(BeTrue())
	g.Expect(a.Shallow).To(BeTrue())
	g.Expect(a.Has("symref")).To(BeTrue())
	g.Expect(a.Has("side-band")).To(BeFalse())

	a, err = wire.ReadAdvert(wire.NewReader(strings.NewReader(v0)), true, func(n string) bool { return n == "refs/tags/v1" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Refs).To(HaveLen(1))

	empty := pkt(strings.Repeat("0", 40)+" capabilities^{}\x00report-status\n") + "0000"
	a, err = wire.ReadAdvert(wire.NewReader(strings.NewReader(empty)), false, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Any).To(BeFalse())
	g.Expect(a.Capabilities).To(Equal([]string{"report-status"}))

	v2 := pkt("# service=git-upload-pack\n") + "0000" + pkt("version 2\n") + pkt("ls-refs=unborn\n") + pkt("fetch=shallow\n") + "0000"
	a, err = wire.ReadAdvert(wire.NewReader(strings.NewReader(v2)), true, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Version).To(Equal(2))
	g.Expect(a.Has("fetch")).To(BeTrue())

	long := strings.Repeat("c", 64)
	for _, in := range []string{
		pkt(long+" HEAD\x00object-format=sha256\n") + "0000",
		pkt("version 2\n") + pkt("object-format=sha256\n") + "0000",
	} {
		_, err = wire.ReadAdvert(wire.NewReader(strings.NewReader(in)), false, nil)
		g.Expect(err).To(MatchError(wire.ErrObjectFormat))
	}
	_, err = wire.ReadLsRefs(wire.NewReader(strings.NewReader(pkt(long+" HEAD\n")+"0000")), nil)
	g.Expect(err).To(MatchError(wire.ErrObjectFormat))
	for _, in := range []string{"", pkt("short"), pkt("nonsense\n") + "0000", pkt(idA+" refs/heads/main\x00\n") + "00"} {
		_, err = wire.ReadAdvert(wire.NewReader(strings.NewReader(in)), false, nil)
		g.Expect(err).To(HaveOccurred(), in)
	}
}

func TestLsRefs(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(wire.LsRefsRequest("HEAD", "refs/heads/main"))).To(Equal(
		pkt("command=ls-refs\n") + "0001" + pkt("symrefs\n") + pkt("ref-prefix HEAD\n") + pkt("ref-prefix refs/heads/main\n") + "0000"))
	a, err := wire.ReadLsRefs(wire.NewReader(strings.NewReader(
		pkt(idA+" HEAD symref-target:refs/heads/main\n")+pkt(idA+" refs/heads/main\n")+pkt(idB+" refs/heads/main2\n")+"0000")),
		func(n string) bool { return n != "refs/heads/main2" })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Head).To(Equal("refs/heads/main"))
	g.Expect(a.Refs).To(HaveLen(2))
	a, err = wire.ReadLsRefs(wire.NewReader(strings.NewReader(pkt("unborn HEAD symref-target:refs/heads/x\n")+"0000")), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Any).To(BeFalse())
	g.Expect(a.Head).To(Equal("refs/heads/x"))
	_, err = wire.ReadLsRefs(wire.NewReader(strings.NewReader("")), nil)
	g.Expect(err).To(MatchError(io.ErrUnexpectedEOF))
}

func TestFetchAnswers(t *testing.T) {
	g := NewWithT(t)
	read := func(r io.Reader, err error) string {
		g.Expect(err).NotTo(HaveOccurred())
		b, err := io.ReadAll(r)
		g.Expect(err).NotTo(HaveOccurred())
		return string(b)
	}
	pack := band(1, "PA") + band(2, "progress\n") + band(1, "CK...") + "0000"
	var text wire.Text
	g.Expect(read(wire.ReadV2(wire.NewReader(strings.NewReader(
		pkt("shallow-info\n")+pkt("shallow "+idA+"\n")+"0001"+pkt("packfile\n")+pack)), &text))).To(Equal("PACK..."))
	g.Expect(text.String()).To(Equal("progress\n"))
	for name, in := range map[string]string{
		"no haves":           pkt("shallow "+idA) + "0000" + pkt("NAK\n") + pack,
		"single ack":         "0000" + pkt("ACK "+idB+"\n") + pack,
		"multi_ack_detailed": pkt("shallow "+idA) + "0000" + pkt("ACK "+idB+" common\n") + pkt("ACK "+idB+" ready\n") + pkt("NAK\n") + pkt("ACK "+idB+"\n") + pack,
		"multi_ack":          pkt("ACK "+idB+" continue\n") + pkt("ACK "+idB+"\n") + pack,
		"no sideband":        pkt("NAK\n") + "PACK...",
	} {
		g.Expect(read(wire.ReadV0(strings.NewReader(in), nil))).To(Equal("PACK..."), name)
	}
	_, err := wire.ReadV2(wire.NewReader(strings.NewReader(pkt("ERR upload-pack: not our ref "+idA+"\n"))), nil)
	var remote *wire.RemoteError
	g.Expect(errors.As(err, &remote)).To(BeTrue())
	r, err := wire.ReadV0(strings.NewReader(pkt("NAK\n")+band(1, "PACK")+band(3, "fatal: broken\n")), nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = io.ReadAll(r)
	g.Expect(errors.As(err, &remote)).To(BeTrue())
	r, err = wire.ReadV0(strings.NewReader(pkt("NAK\n")+band(1, "PACK")), nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = io.ReadAll(r)
	g.Expect(err).To(MatchError(io.ErrUnexpectedEOF), "cut before its flush packet")
}

func TestFetchRequestsTakeWhatTheServerOffers(t *testing.T) {
	g := NewWithT(t)
	f := wire.FetchRequest{Want: plumbing.NewHash(idA), Have: plumbing.NewHash(idB)}
	g.Expect(string(f.V0([]string{"multi_ack", "multi_ack_detailed", "side-band-64k", "thin-pack", "ofs-delta", "shallow", "no-progress"}))).To(Equal(
		pkt("want "+idA+" multi_ack_detailed side-band-64k thin-pack no-progress ofs-delta\n") + pkt("shallow "+idB+"\n") + pkt("deepen 1\n") +
			"0000" + pkt("have "+idB+"\n") + pkt("done\n")))
	g.Expect(string(wire.FetchRequest{Want: plumbing.NewHash(idA)}.V0([]string{"multi_ack", "side-band"}))).To(Equal(
		pkt("want "+idA+" multi_ack side-band\n") + "0000" + pkt("done\n")))
	g.Expect(string(f.V2())).To(ContainSubstring("thin-pack\n"))
}

func TestReports(t *testing.T) {
	g := NewWithT(t)
	const ref = "refs/heads/main"
	ok := pkt("unpack ok\n") + pkt("ok "+ref+"\n") + "0000"
	ng := pkt("unpack ok\n") + pkt("ng "+ref+" failed to update ref\n") + "0000"
	for name, c := range map[string]struct {
		in       string
		sideband bool
		want     wire.Report
	}{
		"plain":            {ok, false, wire.Report{Unpack: "ok", OK: true}},
		"no flush":         {strings.TrimSuffix(ok, "0000"), false, wire.Report{Unpack: "ok", OK: true}},
		"sideband":         {band(2, "hello\n") + band(1, ok) + "0000", true, wire.Report{Unpack: "ok", OK: true, Text: "hello\n"}},
		"split":            {band(1, ok[:7]) + band(2, "x") + band(1, ok[7:]) + "0000", true, wire.Report{Unpack: "ok", OK: true, Text: "x"}},
		"rejected":         {band(2, "why\n") + band(1, ng) + "0000", true, wire.Report{Unpack: "ok", Reason: "failed to update ref", Text: "why\n"}},
		"no reason":        {pkt("unpack ok\n") + pkt("ng "+ref+"\n") + "0000", false, wire.Report{Unpack: "ok", Reason: "no reason given"}},
		"v2 options":       {pkt("unpack ok\n") + pkt("ok "+ref+"\n") + pkt("option refname x\n") + "0000", false, wire.Report{Unpack: "ok", OK: true}},
		"nothing":          {"", false, wire.Report{}},
		"a flush":          {"0000", true, wire.Report{}},
		"a flush inside":   {band(1, "0000") + "0000", true, wire.Report{}},
		"unpacking failed": {pkt("unpack index-pack abnormal exit\n") + pkt("ng "+ref+" unpacker error\n") + "0000", false, wire.Report{Unpack: "index-pack abnormal exit", Reason: "unpacker error"}},
	} {
		rep, err := wire.ReadReport(strings.NewReader(c.in), ref, c.sideband)
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(rep).To(Equal(c.want), name)
	}
	rep, err := wire.ReadReport(strings.NewReader(band(1, pkt("unpack ok\n"))+band(3, "fatal: out of memory\n")), ref, true)
	g.Expect(err).To(HaveOccurred())
	g.Expect(rep.Unpack).To(Equal("ok"))
	g.Expect(rep.Text).To(ContainSubstring("out of memory"))
	for _, in := range []string{pkt("nonsense\n"), pkt("ok refs/heads/other\n"), "00"} {
		_, err := wire.ReadReport(strings.NewReader(in), ref, false)
		g.Expect(err).To(HaveOccurred(), in)
	}
	rep, err = wire.ReadReport(strings.NewReader(strings.Repeat(band(2, strings.Repeat("x", 1000)), 100)+band(1, ok)+"0000"), ref, true)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(rep.Text)).To(BeNumerically("<=", 16<<10))
	g.Expect(rep.OK).To(BeTrue())
}

func TestCommandAsksForAReportInAnyCase(t *testing.T) {
	g := NewWithT(t)
	c := wire.Command{New: plumbing.NewHash(idA), Ref: "refs/heads/main"}
	g.Expect(string(c.Request([]string{"atomic", "side-band-64k", "quiet", "ofs-delta"}))).To(Equal(
		pkt(strings.Repeat("0", 40)+" "+idA+" refs/heads/main\x00report-status side-band-64k quiet") + "0000"))
	g.Expect(string(c.Request(nil))).To(HaveSuffix("\x00report-status0000"))
}

func FuzzAnswers(f *testing.F) {
	ok := pkt("unpack ok\n") + pkt("ok refs/heads/main\n") + "0000"
	for _, s := range []string{
		ok, band(2, "hello") + band(1, ok) + "0000", pkt("shallow-info\n") + "0001" + pkt("packfile\n") + band(1, "PACK") + "0000",
		pkt("NAK\n") + band(1, "PACK") + "0000", pkt(idA+" HEAD symref-target:refs/heads/main\n") + "0000",
		pkt("# service=git-upload-pack\n") + "0000" + pkt(idA+" HEAD\x00caps\n") + "0000", pkt("version 2\n") + "0000", "ffff", pkt("ERR x"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		drain := func(r io.Reader, err error) {
			if err == nil {
				_, _ = io.Copy(io.Discard, r)
			}
		}
		for _, http := range []bool{false, true} {
			if a, err := wire.ReadAdvert(wire.NewReader(bytes.NewReader(in)), http, nil); err == nil && a == nil {
				t.Fatal("neither advertisement nor error")
			}
		}
		_, _ = wire.ReadLsRefs(wire.NewReader(bytes.NewReader(in)), nil)
		drain(wire.ReadV2(wire.NewReader(bytes.NewReader(in)), nil))
		drain(wire.ReadV0(bytes.NewReader(in), nil))
		for _, sideband := range []bool{false, true} {
			rep, err := wire.ReadReport(bytes.NewReader(in), "refs/heads/main", sideband)
			if len(rep.Text) > 33<<10 {
				t.Fatal("unbounded text")
			}
			if err == nil && rep.OK && rep.Unpack == "" && !bytes.Contains(in, []byte("ok refs/heads/main")) {
				t.Fatal("success out of nothing")
			}
		}
	})
}
