//go:build kubelet1.35

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
)

func run(manager pluginmanager.PluginManager) {
	manager.Run(context.Background(), allReady{}, wait.NeverStop)
}
