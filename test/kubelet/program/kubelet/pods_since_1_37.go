//go:build kubelet1.37

package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	criutil "k8s.io/cri-client/pkg/util"
	"k8s.io/klog/v2"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
	podsapi "k8s.io/kubernetes/pkg/kubelet/apis/pods"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig"
	"k8s.io/kubernetes/pkg/kubelet/pod"
	"k8s.io/kubernetes/pkg/kubelet/util"
)

// servePods serves the pods over kubelet's Pods API, as ListenAndServePods does. Without a status manager each pod has the
// status that it was given.
func servePods(rootDir, pods string) {
	var given []*v1.Pod
	if err := json.Unmarshal([]byte(pods), &given); err != nil {
		klog.Exit(err)
	}
	manager := pod.NewBasicPodManager()
	manager.SetPods(given)
	endpoint, err := util.LocalEndpoint(filepath.Join(rootDir, kubeletconfig.DefaultKubeletPodsAPIDirName), podsapi.Socket)
	if err != nil {
		klog.Exit(err)
	}
	listener, err := criutil.CreateListener(endpoint)
	if err != nil {
		klog.Exit(err)
	}
	server := grpc.NewServer()
	broadcaster := podsapi.NewBroadcaster(context.Background())
	podsv1alpha1.RegisterPodsServer(server, podsapi.NewPodsServer(broadcaster, manager, nil, allReady{}))
	go server.Serve(listener)
}
