// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "context"

// Plan decides which bytes follow from a batch. The error says that the plan could not look (I/O, cancellation);
// refusals are part of the result.
func Plan(ctx context.Context, r Request) (*Result, error) {
	return nil, ctx.Err()
}
