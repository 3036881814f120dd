// Program kubelet is the part of one kubelet release that registers CSI drivers: its plugin manager (watcher, reconciler,
// operations) and its CSI registration handler, run from kubelet's own packages. Only the API server is a fake clientset.
//
// It prints one JSON object a line on stdout for each thing that happens, takes commands the same way on stdin, leaves
// stderr to kubelet's log, and ends with its stdin or on SIGTERM: at once, as a killed kubelet does.
package main

import (
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager/cache"
	"k8s.io/kubernetes/pkg/volume/csi"
)

func main() {
	flags := flag.NewFlagSet("kubelet", flag.ExitOnError)
	pluginDir := flags.String("plugin-dir", "", "the plugin registration directory (kubelet's plugins_registry)")
	nodeName := flags.String("node", "node", "name of the node")
	objects := flags.String("objects", "{}", `what an earlier kubelet left on the API server: {"node":{...},"csiNode":{...}}`)
	processors := flags.Int("processors", 0, "run on so many, 0: on all; on one the log has the order of what was done")
	klog.InitFlags(flags)
	flags.Parse(os.Args[1:]) // exits on an error
	if *pluginDir == "" {
		klog.Exit("--plugin-dir is missing")
	}
	runtime.GOMAXPROCS(*processors)

	events := newPrinter(os.Stdout)
	cluster, err := newCluster(*nodeName, *objects)
	if err != nil {
		klog.Exit(err)
	}
	cluster.printChanges(events)
	handler := &printingHandler{real: csi.PluginHandler, events: events, faults: newFaults()}

	// As kubelet.go does: the volume host initialises the CSI plugin, which fills in csi.PluginHandler.
	volumes := newVolumes(func(drivers storagelisters.CSIDriverLister) volumeHost {
		return startVolumeHost(filepath.Dir(*pluginDir), *nodeName, cluster.client, drivers)
	})
	manager := pluginmanager.NewPluginManager(*pluginDir, &record.FakeRecorder{})
	manager.AddHandler(registration.CSIPlugin, handler)
	printed := func(real cache.PluginHandler) cache.PluginHandler {
		return &printingHandler{real: real, events: events, faults: handler.faults}
	}
	addDRAPlugins(manager, cluster.client, *nodeName, printed)
	devices, err := newDeviceManager(filepath.Join(filepath.Dir(*pluginDir), "device-plugins", "kubelet.sock"))
	if err != nil {
		klog.Exit(err)
	}
	manager.AddHandler(registration.DevicePlugin, printed(devices.GetWatcherHandler()))
	events.print("started", cluster.state().fields())
	go run(manager)

	go exitOnSignal()
	obey(os.Stdin, events, handler.faults, volumes, cluster)
}

func exitOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
	os.Exit(0)
}

// allReady says that pods are known from every source; the plugin manager starts no earlier in kubelet.
type allReady struct{}

func (allReady) AddSource(string) {}
func (allReady) AllReady() bool   { return true }
