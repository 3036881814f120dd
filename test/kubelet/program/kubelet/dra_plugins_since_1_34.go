//go:build kubelet1.34

package main

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager/cache"
)

// wipingDelay is how long a DRA driver may be away before kubelet removes its ResourceSlices.
const wipingDelay = time.Minute

// addDRAPlugins makes kubelet register DRA drivers too, by its own DRA manager.
func addDRAPlugins(manager pluginmanager.PluginManager, client kubernetes.Interface, node string, printed func(cache.PluginHandler) cache.PluginHandler) {
	dra := newDRAManager(client, func(ctx context.Context) (*core.Node, error) {
		return client.CoreV1().Nodes().Get(ctx, node, meta.GetOptions{})
	})
	manager.AddHandler(registration.DRAPlugin, printed(dra))
}
