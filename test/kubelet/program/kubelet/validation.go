package main

import (
	"context"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	internalcore "k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	internalstorage "k8s.io/kubernetes/pkg/apis/storage"
	storagev1 "k8s.io/kubernetes/pkg/apis/storage/v1"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
)

// invalidCSINode is the API server's answer to a CSINode that it refuses, by its own code; there is none before a creation.
func invalidCSINode(before, after *storage.CSINode) error {
	next, err := internalCSINode(after)
	if err != nil {
		return err
	}
	var errs field.ErrorList
	if before == nil {
		errs = csinode.Strategy.Validate(context.TODO(), next)
	} else {
		old, err := internalCSINode(before)
		if err != nil {
			return err
		}
		errs = csinode.Strategy.ValidateUpdate(context.TODO(), next, old)
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(internalstorage.Kind("CSINode"), after.Name, errs)
}

func internalCSINode(of *storage.CSINode) (*internalstorage.CSINode, error) {
	result := &internalstorage.CSINode{}
	return result, storagev1.Convert_v1_CSINode_To_storage_CSINode(of, result, nil)
}

// invalidNode is the same for a Node that exists.
func invalidNode(before, after *core.Node) error {
	old, next := &internalcore.Node{}, &internalcore.Node{}
	if err := corev1.Convert_v1_Node_To_core_Node(before, old, nil); err != nil {
		return err
	}
	if err := corev1.Convert_v1_Node_To_core_Node(after, next, nil); err != nil {
		return err
	}
	next.ResourceVersion = "1" // The fake clientset keeps none.
	if errs := corevalidation.ValidateNodeUpdate(next, old); len(errs) > 0 {
		return apierrors.NewInvalid(internalcore.Kind("Node"), after.Name, errs)
	}
	return nil
}
