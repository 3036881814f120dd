//go:build kubelet1.36

// Program csidriver is Kubernetes' own CSI mock driver (test/e2e/storage/drivers/csi-test) on a socket of its own.
// One build of it serves every kubelet. It prints a line once it listens, and ends with its stdin or on SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/driver"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

func main() {
	flags := flag.NewFlagSet("csidriver", flag.ExitOnError)
	endpoint := flags.String("endpoint", "", "path of the socket to listen on; a leftover is replaced")
	name := flags.String("name", service.Name, "the driver's name")
	nodeID := flags.String("node-id", "mock-node", "the node's ID, as the driver calls it")
	maxVolumes := flags.Int64("max-volumes", 0, "volumes that fit on the node; 0 says nothing about it")
	topology := segments{}
	flags.Var(topology, "topology", "a topology segment, key=value; repeatable")
	klog.InitFlags(flags)
	flags.Parse(os.Args[1:]) // exits on an error

	mock := service.New(service.Config{
		DriverName:     *name,
		AttachLimit:    *maxVolumes,
		EnableTopology: len(topology) > 0,
	})
	servers := &driver.CSIDriverServers{
		Controller: mock,
		Identity:   mock,
		Node:       node{Service: mock, id: *nodeID, topology: topology},
	}
	if err := os.Remove(*endpoint); err != nil && !errors.Is(err, os.ErrNotExist) {
		klog.Exit(err)
	}
	listener, err := net.Listen("unix", *endpoint)
	if err != nil {
		klog.Exit(err)
	}
	server := driver.NewCSIDriver(servers)
	if err := server.Start(listener, nil); err != nil {
		klog.Exit(err)
	}
	fmt.Println(`{"event":"started"}`)
	awaitEnd()
	server.Stop()
}

// node is the mock's node service with this node's identity, for which the mock has constants.
type node struct {
	service.Service
	id       string
	topology segments
}

func (n node) NodeGetInfo(ctx context.Context, request *csipb.NodeGetInfoRequest) (*csipb.NodeGetInfoResponse, error) {
	response, err := n.Service.NodeGetInfo(ctx, request)
	if err != nil {
		return nil, err
	}
	response.NodeId = n.id
	if response.AccessibleTopology != nil {
		response.AccessibleTopology.Segments = n.topology
	}
	return response, nil
}

type segments map[string]string

func (s segments) String() string { return "" }

func (s segments) Set(text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q is not key=value", text)
	}
	s[key] = value
	return nil
}

func awaitEnd() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end <- syscall.SIGTERM
	}()
	<-end
}
