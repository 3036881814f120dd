//go:build kubelet1.22 && !kubelet1.35

package main

import (
	"testing"

	"k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/kubernetes/pkg/volume/csi"
	volumetesting "k8s.io/kubernetes/pkg/volume/testing"
)

// startVolumeHost initialises the CSI plugin, for which the host must be kubelet's kind, not the attach controller's.
func startVolumeHost(rootDir string, nodeName string, client kubernetes.Interface, drivers storagelisters.CSIDriverLister) volumeHost {
	return volumetesting.NewFakeKubeletVolumeHostWithCSINodeName(&testing.T{}, rootDir, client, csi.ProbeVolumePlugins(), nodeName, drivers, nil)
}
