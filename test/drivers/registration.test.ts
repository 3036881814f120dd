import { DRIVER, nodeTest, registered } from "../end-to-end/support/node";
import { inEachLanguage } from "./support/driver";

inEachLanguage((start) => {
  nodeTest("a driver is asked its name as localhost, and registered", async (node) => {
    await using driver = await start(node, { nodeId: "node-7" });
    const kubelet = await node.kubelet();
    const registrar = node.registrar("--timeout=10s");
    await registered(kubelet);
    await registrar.reached("registered");
    expect(kubelet.csiNode().spec.drivers).toEqual([
      { name: DRIVER, nodeID: "node-7", topologyKeys: [], allocatable: undefined },
    ]);
    await driver.askedTimes(1);
    expect(driver.asked().map(({ authority }) => authority)).toEqual(["localhost"]);
    expect(driver.asked()[0]?.metadata?.["user-agent"]).toMatch(/^grpc-node-js\//);
  });

  nodeTest("a driver's version and manifest may be in any script", async (node) => {
    const manifest = { größe: "½ TiB", ключ: "値 😀" };
    const vendorVersion = "v1.0-β ☃ \u{1F4BE}";
    await using _driver = await start(node, { vendorVersion, manifest });
    await node.kubelet();
    const registrar = node.registrar("-v=5", "--timeout=10s");
    const { fields } = await registrar.line("GRPC response");
    const identity = { name: DRIVER, vendor_version: vendorVersion, manifest };
    expect(JSON.parse(fields.response ?? "")).toEqual(identity);
    const named = await registrar.line("CSI driver name");
    expect(named.fields.vendorVersion).toBe(vendorVersion);
    await registrar.reached("registered");
  });
});
