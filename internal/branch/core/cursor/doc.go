// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package cursor knows, per stream, below which resource version everything is
// published or proven to need no write (decisions 29). A stored cursor must
// never pass an event whose effect a crash could still lose.
//
// Each accepted item gets a Receipt that travels with it through windows, holds
// and writes. A Line keeps the items of one stream in order and moves over the
// settled prefix. A lost item (refused, dropped, superseded) holds the line
// until a later snapshot of the stream is settled and stands for it.
//
// It is part of the pure machine of branch/core and imports nothing.
package cursor
