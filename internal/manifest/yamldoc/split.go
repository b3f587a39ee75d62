// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import "bytes"

// File is a YAML file cut into its documents. Offsets are bytes of the file.
type File struct {
	// BOM reports a UTF-8 byte order mark at the start.
	BOM bool
	// CRLF reports that most line breaks are CRLF.
	CRLF bool
	// Docs are the documents in their order. A file without a node and without a marker has none.
	Docs []Doc
}

// Doc is one document of a file: src[Start:End] is its own text, its comments included. What lies between the end of
// one document and the start of the next is framing: the "---" and "..." lines, and comments before a first "---".
// A marker line that carries content, and the directives before a marker, are part of the text.
type Doc struct {
	Index      int
	Start, End int
	// Line is the 1-based line of Start in the file.
	Line int
	// Frame is where the framing before the document starts: the end of the previous document and of its "..." line,
	// or the start of the file behind a byte order mark.
	Frame int
	// Marker is the offset of the document's "---"; -1 when it has none.
	Marker int
	// Empty reports that the text holds blanks and comments only.
	Empty bool
}

// Body returns the text of document i.
func (f *File) Body(src []byte, i int) []byte { return src[f.Docs[i].Start:f.Docs[i].End] }

const bom = "\xEF\xBB\xBF"

// Split cuts a file into its documents. A marker stands at the start of a line and nowhere else: the text of a block
// scalar is always indented, and a quoted scalar that holds a marker line is an error for every reader. A leading
// marker makes no empty document, a trailing one does (git-writer 2.1).
func Split(src []byte) *File {
	f := &File{BOM: bytes.HasPrefix(src, []byte(bom)), CRLF: mostlyCRLF(src)}
	s := splitter{src: src, file: f, exotic: hasExoticBreaks(src)}
	if f.BOM {
		s.pos = len(bom)
	}
	s.run()
	return f
}

func mostlyCRLF(src []byte) bool {
	crlf := bytes.Count(src, []byte("\r\n"))
	return crlf > 0 && 2*crlf > bytes.Count(src, []byte("\n"))
}

// hasExoticBreaks reports line breaks other than LF and CRLF: a lone CR, NEL, LS or PS.
func hasExoticBreaks(src []byte) bool {
	return bytes.Count(src, []byte("\r")) != bytes.Count(src, []byte("\r\n")) ||
		bytes.Contains(src, []byte("\u0085")) ||
		bytes.Contains(src, []byte("\u2028")) || bytes.Contains(src, []byte("\u2029"))
}

type splitter struct {
	src    []byte
	file   *File
	exotic bool
	// pos and line are the place of the line being read.
	pos, line int
	// doc is the document being collected; open says that it has a marker or a node.
	doc  Doc
	open bool
	// directives is the offset of the first directive of the next document, -1 without one; plain is an offset before
	// which a line that starts with "%" is known to be no directive.
	directives, directivesLine, plain int
	// ended is the offset of a "..." line that no "---" has followed yet, -1 without one.
	ended, endedLine int
}

func (s *splitter) run() {
	s.line, s.directives, s.ended = 1, -1, -1
	s.doc = Doc{Start: s.pos, Frame: s.pos, Marker: -1, Line: 1, Empty: true}
	for s.pos < len(s.src) {
		end, after := s.next(s.pos)
		text := s.src[s.pos:end]
		switch {
		case isMarker(text, "---"):
			s.begin(text, after)
		case isMarker(text, "..."):
			s.finish(s.pos)
			s.doc = Doc{Start: after, Frame: after, Marker: -1, Line: s.line + 1, Empty: true}
			s.ended, s.endedLine = s.pos, s.line
		case s.isDirective(text):
			if s.directives < 0 {
				s.directives, s.directivesLine = s.pos, s.line
			}
		case !blankOrComment(text):
			s.content()
		}
		s.pos = after
		s.line++
	}
	s.finish(len(s.src))
}

// next returns the end of the line at pos (without its break) and the start of the line after it.
func (s *splitter) next(pos int) (end, after int) {
	if s.exotic {
		end = LineEnd(s.src, pos)
		return end, end + BreakLen(s.src, end)
	}
	i := bytes.IndexByte(s.src[pos:], '\n')
	if i < 0 {
		return len(s.src), len(s.src)
	}
	end, after = pos+i, pos+i+1
	if end > pos && s.src[end-1] == '\r' {
		end--
	}
	return end, after
}

// begin starts the document whose marker line is being read.
func (s *splitter) begin(text []byte, after int) {
	frame := s.doc.Frame
	if s.open {
		frame = s.pos
		s.finish(frame)
	}
	s.doc = Doc{Start: after, Frame: frame, Marker: s.pos, Line: s.line + 1, Empty: true}
	if after == s.pos+len(text) {
		s.doc.Line = s.line // the marker line has no line break: the empty document is on it
	}
	if rest := bytes.TrimLeft(text[3:], " \t"); len(rest) > 0 && rest[0] != '#' {
		s.doc.Start, s.doc.Line, s.doc.Empty = s.pos, s.line, false
	}
	if s.directives >= 0 {
		s.doc.Start, s.doc.Line = s.directives, s.directivesLine
	}
	s.open, s.directives, s.ended = true, -1, -1
}

// content notes that the line being read holds a node. Behind a "..." a document needs a marker; without one its text
// starts at the "...", so that Parse says what every reader says.
func (s *splitter) content() {
	if s.ended >= 0 {
		s.doc.Start, s.doc.Frame, s.doc.Line, s.ended = s.ended, s.ended, s.endedLine, -1
	}
	s.open, s.doc.Empty = true, false
}

func (s *splitter) finish(end int) {
	if !s.open {
		return
	}
	s.doc.End, s.doc.Index = end, len(s.file.Docs)
	s.file.Docs = append(s.file.Docs, s.doc)
	s.open = false
}

// isDirective reports whether the line being read is a directive: no document is open, and only directives, comments
// and blank lines lie between it and the next marker.
func (s *splitter) isDirective(text []byte) bool {
	if s.open || len(text) == 0 || text[0] != '%' {
		return false
	}
	if s.directives >= 0 || s.pos < s.plain {
		return s.directives >= 0
	}
	for pos := s.pos; pos < len(s.src); {
		end, after := s.next(pos)
		line := s.src[pos:end]
		if isMarker(line, "---") {
			return true
		}
		if !blankOrComment(line) && line[0] != '%' {
			break
		}
		pos = after
		s.plain = after
	}
	return false
}

// isMarker reports whether a line is the marker m, alone or followed by a blank.
func isMarker(line []byte, m string) bool {
	return len(line) >= 3 && string(line[:3]) == m && (len(line) == 3 || line[3] == ' ' || line[3] == '\t')
}

func blankOrComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) == 0 || line[0] == '#'
}
