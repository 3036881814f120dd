//go:build kubelet1.34 && !kubelet1.36

package main

import (
	"context"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/kubelet/cm/dra/plugin"
)

func newDRAManager(client kubernetes.Interface, getNode func(context.Context) (*core.Node, error)) *plugin.DRAPluginManager {
	ctx := context.Background()
	here := func() (*core.Node, error) { return getNode(ctx) }
	return plugin.NewDRAPluginManager(ctx, client, here, nil, wipingDelay)
}
