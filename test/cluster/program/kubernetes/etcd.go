package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd serves the database of one API server until a signal asks it to end.
func runEtcd(args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	folder := flags.String("data-dir", "", "where the database lies")
	clients := flags.String("listen-client-url", "", "where the API server reaches it, such as http://127.0.0.1:2379")
	peers := flags.String("listen-peer-url", "", "where other members would reach it: none does, yet it must be free")
	flags.Parse(args)

	config := embed.NewConfig()
	config.Dir = *folder
	config.LogLevel = "warn"
	// What is written is read by one test run only: it need not survive the machine.
	config.UnsafeNoFsync = true
	client, err := url.Parse(*clients)
	if err != nil {
		return err
	}
	peer, err := url.Parse(*peers)
	if err != nil {
		return err
	}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer server.Close()
	<-server.Server.ReadyNotify()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-asked:
		return nil
	case err := <-server.Err():
		return fmt.Errorf("etcd: %w", err)
	}
}
