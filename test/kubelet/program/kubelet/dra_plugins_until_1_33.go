//go:build !kubelet1.34

package main

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager/cache"
)

// addDRAPlugins adds none: the DRA manager of these releases needs more of kubelet than is here.
func addDRAPlugins(pluginmanager.PluginManager, kubernetes.Interface, string, func(cache.PluginHandler) cache.PluginHandler) {
}
