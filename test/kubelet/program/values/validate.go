//go:build !kubelet1.22 || kubelet1.36

package main

import "k8s.io/kubernetes/pkg/apis/storage/validation"

var validateUpdate = validation.ValidateCSINodeUpdate
