// Program csi-driver is a CSI driver with grpc-go, as far as registration sees one.
// Flags and output: README.md beside this folder.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

var (
	socket        = flag.String("socket", "", "")
	name          = flag.String("name", "", "")
	nodeID        = flag.String("node-id", "node-1", "")
	vendorVersion = flag.String("vendor-version", "1.0", "")
	manifest      = entries{}
	responseBytes = flag.Int("response-bytes", 0, "")
	failure       = flag.String("error", "", "")
	delayMs       = flag.Int("delay-ms", 0, "")
	times         = flag.Int64("times", math.MaxInt64, "")
	headersFirst  = flag.Bool("headers-first", false, "")
	maxAgeMs      = flag.Int("max-connection-age-ms", 0, "")
)

func main() {
	flag.Var(manifest, "manifest", "")
	flag.Parse()

	age := time.Duration(*maxAgeMs) * time.Millisecond // 0: without end
	server := grpc.NewServer(
		grpc.UnaryInterceptor(tellCall),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: age}),
	)
	identity := &identity{info: pluginInfo()}
	identity.timesLeft.Store(*times)
	csi.RegisterIdentityServer(server, identity)
	csi.RegisterNodeServer(server, &node{})
	_ = os.Remove(*socket)
	listener, err := net.Listen("unix", *socket)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(server.Serve(listener)) }()
	tell(map[string]any{"event": "started"})
	awaitEnd()
	_ = os.Remove(*socket)
}

type identity struct {
	csi.UnimplementedIdentityServer
	info      *csi.GetPluginInfoResponse
	timesLeft atomic.Int64
}

func (i *identity) GetPluginInfo(ctx context.Context, _ *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	if *headersFirst {
		if err := grpc.SendHeader(ctx, metadata.MD{}); err != nil {
			return nil, err
		}
	}
	if i.timesLeft.Add(-1) >= 0 {
		time.Sleep(time.Duration(*delayMs) * time.Millisecond)
		if name, text, found := strings.Cut(*failure, ":"); found {
			var code codes.Code
			if err := code.UnmarshalJSON([]byte(strconv.Quote(name))); err != nil {
				log.Fatal(err)
			}
			return nil, status.Error(code, text)
		}
	}
	return i.info, nil
}

func (*identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{}, nil
}

func (*identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

type node struct{ csi.UnimplementedNodeServer }

func (*node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (*node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: *nodeID}, nil
}

func pluginInfo() *csi.GetPluginInfoResponse {
	info := &csi.GetPluginInfoResponse{Name: *name, VendorVersion: *vendorVersion, Manifest: manifest}
	if *responseBytes > 0 {
		manifest["filler"] = strings.Repeat("x", *responseBytes)
		excess := proto.Size(protoadapt.MessageV2Of(info)) - *responseBytes
		manifest["filler"] = manifest["filler"][excess:]
	}
	return info
}

func tellCall(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	received, _ := metadata.FromIncomingContext(ctx)
	told := map[string]string{}
	for key, values := range received {
		told[key] = strings.Join(values, ", ")
	}
	authority := told[":authority"]
	delete(told, ":authority")
	tell(map[string]any{
		"event":     "called",
		"method":    path.Base(info.FullMethod),
		"authority": authority,
		"metadata":  told,
	})
	return handle(ctx, request)
}

func tell(event map[string]any) {
	line, err := json.Marshal(event)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
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

type entries map[string]string

func (e entries) String() string { return "" }

func (e entries) Set(text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q is not key=value", text)
	}
	e[key] = value
	return nil
}
