//go:build !kubelet1.37

package main

// servePods does nothing: kubelet has no Pods API, or has it switched off.
func servePods(rootDir, pods string) {}
