//go:build kubelet1.35

package main

import (
	"context"

	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// limitIsMutable says whether the API server takes another volume limit of a driver that is in CSINode.
const limitIsMutable = true

// setPeriod makes the driver's CSIDriver anew, with a period of its volume limit.
func (c *cluster) setPeriod(driver string, seconds int64) error {
	object := &storage.CSIDriver{
		ObjectMeta: meta.ObjectMeta{Name: driver},
		Spec:       storage.CSIDriverSpec{NodeAllocatableUpdatePeriodSeconds: &seconds},
	}
	drivers := c.client.StorageV1().CSIDrivers()
	if _, err := drivers.Update(context.TODO(), object, meta.UpdateOptions{}); err == nil {
		return nil
	}
	_, err := drivers.Create(context.TODO(), object, meta.CreateOptions{})
	return err
}
