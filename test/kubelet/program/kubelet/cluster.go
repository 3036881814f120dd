package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/klog/v2"
)

// cluster is the API server as this node's kubelet sees it: a Node, and the CSINode once kubelet made it.
type cluster struct {
	client *fake.Clientset
	node   string
}

// savedObjects are null where there is none.
type savedObjects struct {
	Node    *core.Node       `json:"node"`
	CSINode *storage.CSINode `json:"csiNode"`
}

var (
	nodes    = core.SchemeGroupVersion.WithResource("nodes")
	csiNodes = storage.SchemeGroupVersion.WithResource("csinodes")
)

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
		if verb := action.GetVerb(); verb == "get" || verb == "list" {
			return react(action)
		}
		before := c.state()
		if err := refuseOldCopy(action, before.CSINode); err != nil {
			return true, nil, err
		}
		handled, result, err := react(action)
		if err != nil {
			return handled, result, err
		}
		if err := c.refuseInvalid(before); err != nil {
			return true, nil, err
		}
		events.print("objects", c.state().fields())
		return handled, result, nil
	})
}

// refuseOldCopy is the API server's answer to an update from a copy that is not the newest: older kubelets change the
// CSINode for several drivers at a time, without a lock, and rely on it. The fake clientset runs one reaction at a time.
func refuseOldCopy(action testing.Action, there *storage.CSINode) error {
	update, isUpdate := action.(testing.UpdateAction)
	if !isUpdate || action.GetVerb() != "update" || there == nil {
		return nil
	}
	written, isCSINode := update.GetObject().(*storage.CSINode)
	if !isCSINode {
		return nil
	}
	if written.ResourceVersion != there.ResourceVersion {
		return apierrors.NewConflict(csiNodes.GroupResource(), written.Name, errors.New("it was changed meanwhile"))
	}
	number, _ := strconv.Atoi(there.ResourceVersion) // none yet is 0
	written.ResourceVersion = strconv.Itoa(number + 1)
	return nil
}

// refuseInvalid takes back what the API server would have refused, and answers in its words: the fake one takes everything.
func (c *cluster) refuseInvalid(before savedObjects) error {
	after, tracker := c.state(), c.client.Tracker()
	if after.CSINode != nil {
		if err := invalidCSINode(before.CSINode, after.CSINode); err != nil {
			if before.CSINode == nil {
				done(tracker.Delete(csiNodes, "", c.node))
			} else {
				done(tracker.Update(csiNodes, before.CSINode, ""))
			}
			return err
		}
	}
	if after.Node != nil && before.Node != nil {
		if err := invalidNode(before.Node, after.Node); err != nil {
			done(tracker.Update(nodes, before.Node, ""))
			return err
		}
	}
	return nil
}

func done(err error) {
	if err != nil {
		klog.Exit(err)
	}
}

// replaceNode deletes the Node, and makes another one of the same name, as a cloud's controller does for a rebuilt machine.
func (c *cluster) replaceNode() error {
	client := c.client.CoreV1().Nodes()
	if err := client.Delete(context.TODO(), c.node, meta.DeleteOptions{}); err != nil {
		return err
	}
	again := &core.Node{ObjectMeta: meta.ObjectMeta{Name: c.node, UID: "00000000-0000-4000-8000-0000000000aa"}}
	_, err := client.Create(context.TODO(), again, meta.CreateOptions{})
	return err
}

// collect does what the garbage collector does with a CSINode whose owner is not there.
func (c *cluster) collect() error {
	node, err := c.client.CoreV1().Nodes().Get(context.TODO(), c.node, meta.GetOptions{})
	if err != nil {
		return err
	}
	csiNodes := c.client.StorageV1().CSINodes()
	csiNode, err := csiNodes.Get(context.TODO(), c.node, meta.GetOptions{})
	if err != nil {
		return err
	}
	for _, owner := range csiNode.OwnerReferences {
		if owner.UID != node.UID {
			return csiNodes.Delete(context.TODO(), c.node, meta.DeleteOptions{})
		}
	}
	return nil
}

// state is what newCluster reads back.
func (c *cluster) state() savedObjects {
	result := savedObjects{}
	if node, err := c.client.Tracker().Get(nodes, "", c.node); err == nil {
		result.Node = node.(*core.Node)
	}
	if csiNode, err := c.client.Tracker().Get(csiNodes, "", c.node); err == nil {
		result.CSINode = csiNode.(*storage.CSINode)
	}
	return result
}

func (o savedObjects) fields() fields {
	return fields{"node": o.Node, "csiNode": o.CSINode}
}
