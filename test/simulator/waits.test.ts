import fc from "fast-check";
import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";
import { untilNotified } from "../support/until-notified";
import { startFakeRegistrar } from "./fake-registrar";

const node = eachTest(createTestNode);
const DRA = "gpu.example.com";
const instance = (file: string) => {
  const info = { type: "DRAPlugin", name: DRA, endpoint: `/${file}`, supportedVersions: ["v1.DRAPlugin"] };
  return startFakeRegistrar({ socketPath: node.socketPath(file), info });
};

test("registered() of a DRA driver resolves with the newest of its living instances, however they come and go", async () => {
  const kubelet = await node.kubelet();
  const change = fc.constantFrom("a", "b", "c");
  const play = async (changes: readonly string[]) => {
    const living = new Map<string, Awaited<ReturnType<typeof instance>>>();
    const end = async (file: string) => {
      const gone = kubelet.events.when("operation-started", {
        from: "now",
        where: ({ operation, socketPath }) =>
          operation === "deregister" && socketPath === node.socketPath(file),
      });
      await living.get(file)?.close();
      living.delete(file);
      await gone;
    };
    for (const file of changes) {
      if (living.has(file)) await end(file);
      else {
        const introduced = kubelet.events.when("registered", {
          from: "now",
          where: ({ endpoint }) => endpoint === `/${file}`,
        });
        living.set(file, await instance(file));
        await untilNotified(kubelet, await introduced);
      }
      const newest = [...living.keys()].at(-1);
      if (newest === undefined) await kubelet.deregistered(DRA);
      else expect(await kubelet.registered(DRA)).toMatchObject({ endpoint: `/${newest}` });
    }
    for (const file of [...living.keys()]) await end(file);
  };
  const runs = { numRuns: 8, examples: [[["a", "b", "b"]]] as [string[]][] };
  await fc.assert(fc.asyncProperty(fc.array(change, { maxLength: 8 }), play), runs);
});

test("a DRA driver's second instance at the endpoint of the first is refused", async () => {
  const kubelet = await node.kubelet();
  await using _first = await instance("a");
  await kubelet.registered(DRA);
  const info = { type: "DRAPlugin", name: DRA, endpoint: "/a", supportedVersions: ["v1.DRAPlugin"] };
  await using _second = await startFakeRegistrar({ socketPath: node.socketPath("b"), info });
  expect((await kubelet.refused(DRA)).error).toMatch(
    /endpoint \/a already registered for DRA driver plugin gpu/,
  );
});

test("refused() with `from: now` is not the refusal of an earlier registration", async () => {
  const kubelet = await node.kubelet({ faults: [{ kind: "refuse", error: "first", times: 1 }] });
  await node.driver();
  const first = await node.plugin();
  expect((await kubelet.refused("x.csi")).error).toContain("first");
  await first.close();
  kubelet.setFaults([{ kind: "refuse", error: "second", times: 1 }]);
  const refused = kubelet.refused("x.csi", { from: "now" });
  await node.plugin({ socketPath: node.socketPath("second") });
  expect((await refused).error).toContain("second");
});
