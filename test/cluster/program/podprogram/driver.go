package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// topologyKey is a label of the node, as with the hostpath driver.
const topologyKey = "topology.hostpath.csi/node"

// driver is the node part of a CSI driver: inline volumes are file systems in memory, persistent ones folders of the
// node. Its flags are called as those of Kubernetes' hostpath driver, so that it can stand in its place.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
	name, nodeID, dataDir string
	// While there is a file of this name NodeGetInfo waits, and another one, NAME.waits, says that it does.
	holdFile string
}

func runDriver(args []string) error {
	flags := flag.NewFlagSet("driver", flag.ExitOnError)
	endpoint := flags.String("endpoint", "unix:///csi/csi.sock", "its socket")
	name := flags.String("drivername", "hostpath.csi.k8s.io", "what GetPluginInfo answers")
	nodeID := flags.String("nodeid", "", "what NodeGetInfo answers")
	dataDir := flags.String("statedir", "/csi-data-dir", "where persistent volumes are folders")
	holdFile := flags.String("hold-node-info", "", "while there is such a file NodeGetInfo waits; FILE.waits says that it does")
	leave := flags.Bool("leave-socket", false, "leaves its socket when it ends, as after SIGKILL")
	flags.Bool("remove-socket", true, "removes the socket of that name when it ends, whoever made it: what Go does unasked")
	flags.Int("v", 0, "taken and ignored")
	flags.Parse(args)

	served := &driver{name: *name, nodeID: *nodeID, dataDir: *dataDir, holdFile: *holdFile}
	path := strings.TrimPrefix(*endpoint, "unix://")
	// A socket that a killed driver left behind.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	listener.SetUnlinkOnClose(!*leave)
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, served)
	csi.RegisterNodeServer(server, served)
	go func() {
		untilAsked()
		server.Stop()
	}()
	fmt.Printf("driver %s serves at %s\n", *name, path)
	return server.Serve(listener)
}

func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.name, VendorVersion: "test"}, nil
}

func (d *driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{}, nil
}

func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func (d *driver) NodeGetInfo(ctx context.Context, _ *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	for d.isHeld() {
		if err := os.WriteFile(d.holdFile+".waits", nil, 0o644); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
		select {
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	topology := &csi.Topology{Segments: map[string]string{topologyKey: d.nodeID}}
	return &csi.NodeGetInfoResponse{NodeId: d.nodeID, AccessibleTopology: topology}, nil
}

func (d *driver) isHeld() bool {
	if d.holdFile == "" {
		return false
	}
	_, err := os.Stat(d.holdFile)
	return err == nil
}

func (d *driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (d *driver) NodePublishVolume(_ context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	target := request.GetTargetPath()
	if err := os.MkdirAll(target, 0o750); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if isMountPoint(target) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if err := d.mount(request, target); err != nil {
		return nil, status.Errorf(codes.Internal, "mount %s: %v", target, err)
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (d *driver) mount(request *csi.NodePublishVolumeRequest, target string) error {
	if request.GetVolumeContext()["csi.storage.k8s.io/ephemeral"] == "true" {
		return unix.Mount("tmpfs", target, "tmpfs", 0, "size=4m")
	}
	folder := filepath.Join(d.dataDir, request.GetVolumeId())
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return unix.Mount(folder, target, "", unix.MS_BIND, "")
}

func (d *driver) NodeUnpublishVolume(_ context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	target := request.GetTargetPath()
	if isMountPoint(target) {
		if err := unix.Unmount(target, 0); err != nil {
			return nil, status.Errorf(codes.Internal, "unmount %s: %v", target, err)
		}
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// isMountPoint compares file systems and, for a bind mount of the same one, inodes' mount IDs.
func isMountPoint(path string) bool {
	var here, above unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_MNT_ID, &here) != nil {
		return false
	}
	if unix.Statx(unix.AT_FDCWD, filepath.Dir(path), 0, unix.STATX_MNT_ID, &above) != nil {
		return false
	}
	return here.Mnt_id != above.Mnt_id
}
