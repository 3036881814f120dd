import { createNodeStore } from "../../src/node-readiness/node-watch";
import { startupTaintsOf } from "../../src/node-readiness/startup-taint";
import { createTaintKeeper } from "../../src/node-readiness/taint-keeper";
import { recordLog } from "../support/recorded-log";
import { passOf, registrationIn } from "./support/controlled-registrations";

const [FOUGHT, UNLISTED] = ["fought.csi.example.com", "unlisted.csi.example.com"];
const WANTED = [{ key: "{driver}/agent-not-ready", effect: undefined }];
const PACE = {
  unlisted: { initialMs: 200, maxMs: 10_000 },
  fight: { initialMs: 30_000, maxMs: 30_000 },
};

test("a driver that CSINode lacks is not looked up without a pause while another one's taint is fought for", async () => {
  const log = recordLog();
  const keeper = createTaintKeeper(WANTED, log.logger, PACE);
  const store = createNodeStore(() => {});
  const taints = [FOUGHT, UNLISTED].map((driver) => ({
    key: startupTaintsOf(driver, WANTED)[0]?.key ?? "",
    effect: "NoSchedule",
  }));
  let revision = 0;
  /** Another client adds the taints again, whatever was removed. */
  const nodeAsEver = () => {
    revision += 1;
    const value = { uid: "1", resourceVersion: `${revision}`, taints, conditions: [] };
    return { kind: "done", value } as const;
  };
  store.see(nodeAsEver().value);
  const registrations = [FOUGHT, UNLISTED].map((driver) => registrationIn("registered", driver));
  const looks: (number | undefined)[] = [];
  let patches = 0;
  const patchNode = async () => {
    patches += 1;
    return nodeAsEver();
  };
  for (let look = 0; look < 8; look += 1) {
    const listed = async () => ({ kind: "done", value: [FOUGHT] }) as const;
    const outcome = await keeper.pass(registrations, passOf(store, Date.now(), listed, { patchNode }));
    looks.push(outcome.kind === "settled" ? outcome.againInMs : undefined);
  }
  // Removed again three times at once; then both wait, for what becomes of CSINode and for peace.
  expect(patches).toBe(4);
  expect(looks).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  // The API server's answer still had it each time (aws-efs#1613).
  expect(log.all("Startup taint was removed, and somebody put it back")).toHaveLength(4);
  expect(log.all("Startup taint removed")).toEqual([]);
});
