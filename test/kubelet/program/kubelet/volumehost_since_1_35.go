//go:build kubelet1.35

package main

import (
	"testing"

	"k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/volume/csi"
	volumetesting "k8s.io/kubernetes/pkg/volume/testing"
)

// startVolumeHost initialises the CSI plugin with an informer of CSIDrivers, from which kubelet's updater of volume limits
// takes their periods. The fake host has its informers only after it was made with its plugins: here it gets them later.
func startVolumeHost(rootDir string, nodeName string, client kubernetes.Interface, drivers storagelisters.CSIDriverLister) volumeHost {
	host := volumetesting.NewFakeKubeletVolumeHostWithCSINodeName(&testing.T{}, rootDir, client, nil, nodeName, drivers, nil)
	if err := host.GetPluginMgr().InitPlugins(csi.ProbeVolumePlugins(), nil, host); err != nil {
		klog.Exit(err)
	}
	if err := host.WaitForKubeletErrNil(); err != nil {
		klog.Exit(err)
	}
	never := make(chan struct{})
	host.GetInformerFactory().Start(never)
	host.GetInformerFactory().WaitForCacheSync(never)
	return host
}
