//go:build kubelet1.36

// Program probe is a grpc-go client of a registration socket, for interop tests: it makes the calls that its arguments
// name, in order and on one connection, and prints one JSON object a line for each.
//
//	probe --socket S --authority raw get-info notify notify:"the reason"
//
// --authority is the :authority header: "raw" is the socket's path as kubelets up to 1.28 send it, "encoded" the path
// percent-encoded as later kubelets do, "localhost" what clients send that dial unix:///path; anything else is sent as is.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

func main() {
	flags := flag.NewFlagSet("probe", flag.ExitOnError)
	socket := flags.String("socket", "", "path of the registration socket")
	form := flags.String("authority", "encoded", "raw, encoded, localhost or any text")
	timeout := flags.Duration("timeout", 5*time.Second, "of each call, the connection included")
	flags.Parse(os.Args[1:]) // exits on an error

	connection, err := grpc.NewClient("passthrough:///registration",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority(authority(*form, *socket)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", *socket)
		}),
	)
	if err != nil {
		klog.Exit(err)
	}
	defer connection.Close()
	client := registration.NewRegistrationClient(connection)

	out := json.NewEncoder(os.Stdout)
	for _, name := range flags.Args() {
		ctx, cancel := context.WithTimeout(context.Background(), *timeout)
		if err := out.Encode(call(ctx, client, name)); err != nil {
			klog.Exit(err)
		}
		cancel()
	}
}

func authority(form, socket string) string {
	switch form {
	case "raw":
		return socket
	case "encoded":
		return url.PathEscape(socket)
	default:
		return form
	}
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type outcome struct {
	Call  string                   `json:"call"`
	Info  *registration.PluginInfo `json:"info,omitempty"`
	Error *failure                 `json:"error,omitempty"`
}

func call(ctx context.Context, client registration.RegistrationClient, name string) outcome {
	result := outcome{Call: name}
	var err error
	if name == "get-info" {
		result.Info, err = client.GetInfo(ctx, &registration.InfoRequest{})
	} else if method, reason, refused := strings.Cut(name, ":"); method == "notify" {
		_, err = client.NotifyRegistrationStatus(ctx, &registration.RegistrationStatus{
			PluginRegistered: !refused,
			Error:            reason,
		})
	} else {
		klog.Exitf("%q is none of get-info, notify, notify:REASON", name)
	}
	if err != nil {
		result.Error = &failure{Code: status.Code(err).String(), Message: status.Convert(err).Message()}
	}
	return result
}
