import { eventually } from "../../support/eventually";
import { DRIVER } from "../support/controlled-registrations";
import { QUICK_PACE } from "../support/fixture";
import { useCluster } from "./support/cluster";
import { startKeeper } from "./support/keeper";

const LISTED_AGAIN = "CSINode lists the driver again";
const PACE = {
  ...QUICK_PACE,
  csiNode: { lookEveryMs: 50, graceMs: 50, again: { initialMs: 100, maxMs: 100 } },
};

const cluster = useCluster();
beforeEach(() => cluster.writeCsiNode("node-1", [DRIVER]));

const deleteCsiNode = () => cluster.controlPlane.kubectl("delete", "csinode", "node-1");

test("CSINode is deleted: the driver is registered anew, with the rights that there were before", async () => {
  await using keeper = await startKeeper(cluster, { pace: PACE });
  const { registrations, log } = keeper;
  registrations.set("registered");
  await eventually(() => expect(keeper.readiness.status().csiNode).toHaveLength(1));
  await deleteCsiNode();
  await eventually(() => expect(registrations.reregistered.length).toBeGreaterThan(0));
  await cluster.writeCsiNode("node-1", [DRIVER]);
  await log.when(LISTED_AGAIN);
  expect(keeper.readiness.status()).toMatchObject({
    csiNode: [{ driverName: DRIVER, lackingSince: undefined }],
    api: { failures: {}, trouble: undefined },
  });
});
