import { eventually } from "../../support/eventually";
import { DRIVER } from "../support/controlled-registrations";
import { useCluster } from "./support/cluster";
import { startKeeper } from "./support/keeper";

const cluster = useCluster();

const TYPE = `${DRIVER}/Registered`;
const conditions = async () => (await cluster.node("node-1")).conditions;
const own = async () => (await conditions()).find(({ type }) => type === TYPE);

/** Writes kubelet's own condition as kubelet does. */
const kubeletReports = (status: "True" | "False") =>
  cluster.writeStatus("node-1", { conditions: [{ type: "Ready", status, reason: "Kubelet", message: "" }] });

test("True when kubelet has registered the driver, False when it has not for so long; kubelet's own stay", async () => {
  await kubeletReports("True");
  await cluster.writeCsiNode("node-1", [DRIVER]);
  await using keeper = await startKeeper(cluster, { condition: "{driver}/Registered", conditionDelayMs: 0 });
  keeper.registrations.set("registered");
  await eventually(async () => expect(await own()).toMatchObject({ status: "True", reason: "Registered" }));
  const since = (await own())?.lastTransitionTime;
  await kubeletReports("False");
  await kubeletReports("True");
  expect(await own()).toMatchObject({ status: "True", lastTransitionTime: since });

  keeper.registrations.set("refused");
  await eventually(async () => expect(await own()).toMatchObject({ status: "False", reason: "Refused" }));
  expect((await conditions()).map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
    "Ready=True",
    `${TYPE}=False`,
  ]);
  const { writes } = keeper.readiness.status().conditions[0] ?? {};
  expect(keeper.log.all("Node condition set")).toHaveLength(writes ?? 0);
});
