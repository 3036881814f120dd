//go:build !kubelet1.35

package main

import (
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
)

func run(manager pluginmanager.PluginManager) {
	manager.Run(allReady{}, wait.NeverStop)
}
