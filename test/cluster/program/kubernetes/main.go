// Program kubernetes is a whole Kubernetes in one file: its first argument chooses which of its parts it is.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: kubernetes PART [FLAG...]"))
	}
	part := os.Args[1]
	// Each part reads its flags from what follows its own name.
	os.Args = append([]string{part}, os.Args[2:]...)
	switch part {
	case "etcd":
		endWithStarter()
		fail(runEtcd(os.Args[1:]))
	case "init":
		fail(runInit(os.Args[1:]))
	case "certificates":
		fail(writeCertificates(os.Args[1:]))
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllers.NewControllerManagerCommand())
	case "kube-scheduler":
		run(scheduler.NewSchedulerCommand())
	case "kubelet":
		run(kubelet.NewKubeletCommand(context.Background()))
	case "kubectl":
		logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
		util.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
	default:
		fail(fmt.Errorf("unknown part %q", part))
	}
}

func run(command *cobra.Command) {
	endWithStarter()
	os.Exit(cli.Run(command))
}

// endWithStarter ends this process when the one that started it is gone, so that nothing outlives a test run that was
// killed. A parent death signal would not do: it is sent when the starting thread ends, not the process.
func endWithStarter() {
	starter := os.Getppid()
	go func() {
		for range time.Tick(500 * time.Millisecond) {
			if os.Getppid() != starter {
				os.Exit(3)
			}
		}
	}()
}

func fail(err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "%v\n", err)
	os.Exit(1)
}
