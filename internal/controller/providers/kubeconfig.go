// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

// Refusal is a reason that stands until a person changes something.
type Refusal struct{ Reason, Message string }

// KubeConfigOptions open what a kubeconfig may not do by default.
type KubeConfigOptions struct {
	// Exec allows exec and auth-provider plugins (--insecure-kubeconfig-exec).
	Exec bool
	// InsecureTLS allows skipping certificate verification (--insecure-kubeconfig-tls).
	InsecureTLS bool
}

// Load reads a kubeconfig. References to files are always refused: they would read the operator's own disk.
func (o KubeConfigOptions) Load(data []byte) (*rest.Config, *Refusal) {
	invalid := func(err error) *Refusal {
		return &Refusal{v1alpha3.KubeConfigInvalidReason, fmt.Sprintf("the kubeconfig cannot be used: %v", err)}
	}
	kc, err := clientcmd.Load(data)
	if err != nil {
		return nil, &Refusal{v1alpha3.KubeConfigInvalidReason,
			"the kubeconfig does not parse; write one with `kubectl config view --flatten --minify --raw`"}
	}
	for name, u := range kc.AuthInfos {
		switch {
		case u.ClientCertificate != "" || u.ClientKey != "" || u.TokenFile != "":
			return nil, &Refusal{v1alpha3.KubeConfigFileReferenceNotAllowedReason, fmt.Sprintf(
				"user %q refers to a file; embed it as data (kubectl config view --flatten --raw)", name)}
		case (u.Exec != nil || u.AuthProvider != nil) && !o.Exec:
			return nil, &Refusal{v1alpha3.KubeConfigExecNotAllowedReason, fmt.Sprintf(
				"user %q runs a credential plugin; use a token or certificate, or start the operator with --insecure-kubeconfig-exec", name)}
		}
	}
	for name, c := range kc.Clusters {
		switch {
		case c.CertificateAuthority != "":
			return nil, &Refusal{v1alpha3.KubeConfigFileReferenceNotAllowedReason, fmt.Sprintf(
				"cluster %q refers to a file; embed it as certificate-authority-data", name)}
		case c.InsecureSkipTLSVerify && !o.InsecureTLS:
			return nil, &Refusal{v1alpha3.KubeConfigInsecureTLSNotAllowedReason, fmt.Sprintf(
				"cluster %q skips the verification of certificates; add certificate-authority-data, or start the operator with --insecure-kubeconfig-tls", name)}
		}
	}
	config, err := clientcmd.NewDefaultClientConfig(*kc, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, invalid(err)
	}
	return config, nil
}
