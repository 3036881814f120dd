//go:build kubelet1.22 && !kubelet1.36

package main

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/storage"
	"k8s.io/kubernetes/pkg/apis/storage/validation"
)

// As the API server's strategy for CSINode sets it (pkg/registry/storage/csinode/strategy.go).
func validateUpdate(new, old *storage.CSINode) field.ErrorList {
	return validation.ValidateCSINodeUpdate(new, old, validation.CSINodeValidationOptions{AllowLongNodeID: true})
}
