package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	internal "k8s.io/kubernetes/pkg/apis/storage"
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
		if err := c.refuseOldCopy(action); err != nil {
			return true, nil, err
		}
		handled, result, err := react(action)
		if verb := action.GetVerb(); err == nil && verb != "get" && verb != "list" {
			events.print("objects", c.state())
		}
		return handled, result, err
	})
}

// refuseOldCopy is the API server's answer to an update from a copy that is not the newest: older kubelets change the
// CSINode for several drivers at a time, without a lock, and rely on it. The fake clientset runs one reaction at a time.
func (c *cluster) refuseOldCopy(action testing.Action) error {
	update, isUpdate := action.(testing.UpdateAction)
	if !isUpdate || action.GetVerb() != "update" {
		return nil
	}
	written, isCSINode := update.GetObject().(*storage.CSINode)
	if !isCSINode {
		return nil
	}
	csiNodes := storage.SchemeGroupVersion.WithResource("csinodes")
	there, err := c.client.Tracker().Get(csiNodes, "", written.Name)
	if err != nil {
		return err
	}
	version := there.(*storage.CSINode).ResourceVersion
	if written.ResourceVersion != version {
		return apierrors.NewConflict(csiNodes.GroupResource(), written.Name, errors.New("it was changed meanwhile"))
	}
	if err := refuseChangedDriver(there.(*storage.CSINode), written); err != nil {
		return err
	}
	number, _ := strconv.Atoi(version) // none yet is 0
	written.ResourceVersion = strconv.Itoa(number + 1)
	return nil
}

// refuseChangedDriver is the API server's answer to an update that changes the entry of a driver, which may only come and
// go; of some releases on its volume limit may change. See ValidateCSINodeUpdate in pkg/apis/storage/validation.
func refuseChangedDriver(before, after *storage.CSINode) error {
	there := map[string]internal.CSINodeDriver{}
	for _, driver := range before.Spec.Drivers {
		there[driver.Name] = fixedPart(driver)
	}
	for _, driver := range after.Spec.Drivers {
		old, isOld := there[driver.Name]
		now := fixedPart(driver)
		if isOld && !equality.Semantic.DeepEqual(old, now) {
			value, _ := json.Marshal(now)
			return fmt.Errorf("CSINode.storage.k8s.io %q is invalid: spec.drivers: Invalid value: %s: field is immutable", after.Name, value)
		}
	}
	return nil
}

func fixedPart(driver storage.CSINodeDriver) internal.CSINodeDriver {
	fixed := internal.CSINodeDriver{Name: driver.Name, NodeID: driver.NodeID, TopologyKeys: driver.TopologyKeys}
	if !limitIsMutable && driver.Allocatable != nil {
		fixed.Allocatable = &internal.VolumeNodeResources{Count: driver.Allocatable.Count}
	}
	return fixed
}

// replaceNode deletes the Node, and makes another one of the same name, as a cloud's controller does for a rebuilt machine.
func (c *cluster) replaceNode() error {
	nodes := c.client.CoreV1().Nodes()
	if err := nodes.Delete(context.TODO(), c.node, meta.DeleteOptions{}); err != nil {
		return err
	}
	again := &core.Node{ObjectMeta: meta.ObjectMeta{Name: c.node, UID: "00000000-0000-4000-8000-0000000000aa"}}
	_, err := nodes.Create(context.TODO(), again, meta.CreateOptions{})
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
