//go:build !kubelet1.35

package main

import (
	_ "unsafe" // for go:linkname

	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
)

// newDeviceManager makes the manager of device plugins. The exported function has a path in /var/lib/kubelet.
func newDeviceManager(socketPath string) (*devicemanager.ManagerImpl, error) {
	return newManagerImpl(socketPath, nil, nil)
}

//go:linkname newManagerImpl k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newManagerImpl(socketPath string, topology []struct{}, store topologymanager.Store) (*devicemanager.ManagerImpl, error)
