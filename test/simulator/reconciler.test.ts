import { type ActualPlugin, type DesiredPlugin, reconcile } from "../../src/simulator/reconciler";

const seen = (socketPath: string, generation: number): DesiredPlugin => ({ socketPath, generation });
const held = (socketPath: string, generation: number): ActualPlugin => ({
  socketPath,
  generation,
  pluginType: "CSIPlugin",
  name: "x.csi",
  endpoint: "/csi/csi.sock",
});

test.each<[string, DesiredPlugin[], ActualPlugin[], string[]]>([
  ["nothing anywhere", [], [], []],
  ["a socket came", [seen("/a", 1)], [], ["register /a"]],
  ["all is as it should be", [seen("/a", 1)], [held("/a", 1)], []],
  ["a socket went", [], [held("/a", 1)], ["unregister /a socket-gone"]],
  [
    "a socket was replaced",
    [seen("/a", 2)],
    [held("/a", 1)],
    ["unregister /a socket-replaced", "register /a"],
  ],
  [
    "unregister comes first",
    [seen("/a", 1), seen("/b", 2)],
    [held("/b", 2), held("/c", 3)],
    ["unregister /c socket-gone", "register /a"],
  ],
])("%s", (_case, desired, actual, expected) => {
  const operations = reconcile(desired, actual).map((operation) =>
    operation.kind === "register"
      ? `register ${operation.plugin.socketPath}`
      : `unregister ${operation.plugin.socketPath} ${operation.because}`,
  );
  expect(operations).toEqual(expected);
});
