package main

import (
	"fmt"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/volume"
)

// volumes mounts inline volumes of a pod with kubelet's CSI plugin, which calls the driver as kubelet does.
type volumes struct {
	host    volumeHost
	drivers cache.Indexer
}

// volumeHost is the part of the fake volume host that is needed; its type has no name in older releases.
type volumeHost interface {
	GetPluginMgr() *volume.VolumePluginMgr
}

func newVolumes(start func(storagelisters.CSIDriverLister) volumeHost) *volumes {
	drivers := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	return &volumes{drivers: drivers, host: start(storagelisters.NewCSIDriverLister(drivers))}
}

// NewMounter lost its last parameter.
type mounting interface {
	NewMounter(*volume.Spec, *core.Pod) (volume.Mounter, error)
}
type mountingWithOptions interface {
	NewMounter(*volume.Spec, *core.Pod, volume.VolumeOptions) (volume.Mounter, error)
}

// mount makes the driver known as one of inline volumes, and mounts one; it answers with the folder in the pod.
func (v *volumes) mount(driver, name string, attributes map[string]string) (string, error) {
	attach, podInfo, fsGroups := false, true, storage.NoneFSGroupPolicy
	known := &storage.CSIDriver{
		ObjectMeta: meta.ObjectMeta{Name: driver},
		Spec: storage.CSIDriverSpec{
			AttachRequired:       &attach,
			FSGroupPolicy:        &fsGroups,
			PodInfoOnMount:       &podInfo,
			VolumeLifecycleModes: []storage.VolumeLifecycleMode{storage.VolumeLifecycleEphemeral},
		},
	}
	if err := v.drivers.Add(known); err != nil {
		return "", err
	}
	plugin, err := v.host.GetPluginMgr().FindPluginByName("kubernetes.io/csi")
	if err != nil {
		return "", err
	}
	source := core.CSIVolumeSource{Driver: driver, VolumeAttributes: attributes}
	spec := volume.NewSpecFromVolume(&core.Volume{Name: name, VolumeSource: core.VolumeSource{CSI: &source}})
	pod := &core.Pod{ObjectMeta: meta.ObjectMeta{Name: "pod-1", Namespace: "default", UID: podUID}}
	var mounter volume.Mounter
	switch plugin := plugin.(type) {
	case mounting:
		mounter, err = plugin.NewMounter(spec, pod)
	case mountingWithOptions:
		mounter, err = plugin.NewMounter(spec, pod, volume.VolumeOptions{})
	default:
		err = fmt.Errorf("NewMounter of %T has changed", plugin)
	}
	if err != nil {
		return "", err
	}
	return mounter.GetPath(), mounter.SetUp(volume.MounterArgs{})
}

func (v *volumes) unmount(name string) error {
	plugin, err := v.host.GetPluginMgr().FindPluginByName("kubernetes.io/csi")
	if err != nil {
		return err
	}
	unmounter, err := plugin.NewUnmounter(name, podUID)
	if err != nil {
		return err
	}
	return unmounter.TearDown()
}

const podUID = types.UID("00000000-0000-4000-8000-000000000002")
