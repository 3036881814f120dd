import { createTestNode } from "../support/registrar-node";

test.each<[wait: unknown, text: string]>([
  [20, "registered takes an object of options, not 20"],
  [null, "registered takes an object of options, not null"],
  [{ timeoutMs: "1s" }, 'registered: timeoutMs is "1s"; it takes milliseconds'],
  [{ where: () => true }, 'registered: there is no option "where"; there are timeoutMs, signal'],
])("what bounds a wait is checked, also where nothing is waited for: %j", async (wait, text) => {
  await using node = await createTestNode();
  const kubelet = await node.kubelet();
  for (const name of ["registered", "refused", "deregistered"] as const)
    await expect(kubelet[name]("x.csi", wait as never)).rejects.toThrow(text.replaceAll("registered", name));
});
