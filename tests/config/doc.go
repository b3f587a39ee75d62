// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package config holds the manifests of config/, the Dockerfile and the Makefile to what the code is: flags that exist,
// ports and folders that agree, permissions that are asked for, targets that are promised.
package config
