package main

import (
	"encoding/json"
	"fmt"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
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

// printChanges prints both objects after each write to the API server from now on, before the writer goes on.
func (c *cluster) printChanges(events *printer) {
	react := testing.ObjectReaction(c.client.Tracker())
	c.client.PrependReactor("*", "*", func(action testing.Action) (bool, runtime.Object, error) {
		handled, result, err := react(action)
		if verb := action.GetVerb(); err == nil && verb != "get" && verb != "list" {
			events.print("objects", c.state())
		}
		return handled, result, err
	})
}

// state is what savedObjects reads back; an object that does not exist is null.
func (c *cluster) state() fields {
	result := fields{"node": nil, "csiNode": nil}
	if node, err := c.client.Tracker().Get(core.SchemeGroupVersion.WithResource("nodes"), "", c.node); err == nil {
		result["node"] = node
	}
	if csiNode, err := c.client.Tracker().Get(storage.SchemeGroupVersion.WithResource("csinodes"), "", c.node); err == nil {
		result["csiNode"] = csiNode
	}
	return result
}
