package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// runLeaving runs a driver that would remove its socket's name when it is asked to end, also where a successor has that
// name by then. As the container's first process it takes the driver with it: the kernel kills what is left.
func runLeaving(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: podprogram leave PROGRAM [FLAG...]")
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	driver := exec.Command(args[0], args[1:]...)
	driver.Stdout, driver.Stderr = os.Stdout, os.Stderr
	go func() {
		<-asked
		os.Exit(0)
	}()
	return driver.Run()
}
