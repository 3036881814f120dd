import { onNode, registered } from "../end-to-end/support/node";
import { inEachLanguage } from "./support/driver";

inEachLanguage((start) => {
  test.each(["kill", "close"] as const)(
    "a driver that restarts after a %s stays registered",
    onNode(async (node, end) => {
      await using former = await start(node, { vendorVersion: "1.0" });
      const kubelet = await node.kubelet();
      const registrar = node.registrar("--timeout=10s");
      await registered(kubelet);
      await former[end]();
      await registrar.line("Lost connection");
      await using next = await start(node, { vendorVersion: "1.1" });
      await registrar.line("Connection restored");
      const noted = "CSI driver came back as another version, its registration stays as it is";
      expect((await registrar.line(noted)).fields).toEqual({ was: "1.0", vendorVersion: "1.1" });
      await next.askedTimes(1);
      expect(next.asked().map(({ authority }) => authority)).toEqual(["localhost"]);
      expect(kubelet.events.history().filter(({ kind }) => kind === "deregistered")).toEqual([]);
      expect(registrar.lines("Lost connection")).toHaveLength(1);
    }),
  );

  test.each([
    ["and answers at once", { maxConnectionAgeMs: 500 }],
    ["and is slower than that", { maxConnectionAgeMs: 300, delayMs: 700 }],
  ])(
    "a driver that ends old connections %s does not count as restarted",
    onNode(async (node, _how, ageing) => {
      await using driver = await start(node, ageing);
      const kubelet = await node.kubelet();
      const registrar = node.registrar("--reregister-on-driver-restart", "--timeout=10s");
      await registered(kubelet);
      await driver.askedTimes(3);
      const kinds = kubelet.events.history().map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "registered")).toHaveLength(1);
      expect(kinds).not.toContain("deregistered");
      expect(registrar.lines().filter(({ severity }) => severity === "E")).toEqual([]);
      expect(new Set(driver.asked().map(({ authority }) => authority))).toEqual(new Set(["localhost"]));
    }),
  );
});
