package main

import (
	"context"
	"encoding/json"
	"fmt"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
)

// cluster is the API server as this node's kubelet sees it: a Node, and the CSINode once kubelet made it.
type cluster struct {
	client *fake.Clientset
	node   string
}

type savedObjects struct {
	Node    *core.Node       `json:"node"`
	CSINode *storage.CSINode `json:"csiNode"`
}

// newCluster holds the saved objects, which is how API objects outlive a kubelet, or else a new Node.
func newCluster(node string, saved string) (*cluster, error) {
	var before savedObjects
	if err := json.Unmarshal([]byte(saved), &before); err != nil {
		return nil, fmt.Errorf("--objects: %w", err)
	}
	if before.Node == nil {
		before.Node = &core.Node{ObjectMeta: meta.ObjectMeta{Name: node, UID: "00000000-0000-4000-8000-000000000001"}}
	}
	objects := []runtime.Object{before.Node}
	if before.CSINode != nil {
		objects = append(objects, before.CSINode)
	}
	return &cluster{client: fake.NewSimpleClientset(objects...), node: node}, nil
}

// printChanges prints both objects each time that one of them has changed, from now on.
func (c *cluster) printChanges(events *printer) error {
	nodes, err := c.client.CoreV1().Nodes().Watch(context.Background(), meta.ListOptions{})
	if err != nil {
		return err
	}
	csiNodes, err := c.client.StorageV1().CSINodes().Watch(context.Background(), meta.ListOptions{})
	if err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-nodes.ResultChan():
			case <-csiNodes.ResultChan():
			}
			events.print("objects", c.state())
		}
	}()
	return nil
}

// state is what savedObjects reads back; an object that does not exist is null.
func (c *cluster) state() fields {
	result := fields{"node": nil, "csiNode": nil}
	if node, err := c.client.CoreV1().Nodes().Get(context.Background(), c.node, meta.GetOptions{}); err == nil {
		result["node"] = node
	}
	if csiNode, err := c.client.StorageV1().CSINodes().Get(context.Background(), c.node, meta.GetOptions{}); err == nil {
		result["csiNode"] = csiNode
	}
	return result
}
