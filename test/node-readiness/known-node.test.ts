import { createKnownNode, learn } from "../../src/node-readiness/known-node";
import { done, type NodeView } from "../../src/node-readiness/node-api";
import { nodeWith } from "./support/controlled-registrations";

const view = (uid: string, resourceVersion: string) => nodeWith({ uid, resourceVersion });
const VIEWS = [undefined, view("1", "6"), view("1", "7"), view("1", "10"), view("1", "x"), view("2", "3")];
const shown = (node: NodeView | undefined) =>
  node === undefined ? "no Node" : `Node ${node.uid} version ${node.resourceVersion}`;

test("what is known of the Node after each piece of news", () => {
  const lines = [undefined, view("1", "7")].flatMap((node) =>
    VIEWS.flatMap((news) => {
      const known = { node, reads: 3 };
      const after = [
        ["read", learn(known, { kind: "read", node: news })] as const,
        ["watched", learn(known, { kind: "watched", node: news })] as const,
        ...[3, 2].flatMap((reads) =>
          news === undefined
            ? []
            : [
                [
                  `answered to ${reads} reads`,
                  learn(known, { kind: "answered", node: news, reads }),
                ] as const,
              ],
        ),
      ];
      return after.map(
        ([kind, now]) => `${shown(node)}; ${kind} ${shown(news)}: ${shown(now.node)}, ${now.reads} reads`,
      );
    }),
  );
  expect(["", ...lines, ""].join("\n")).toMatchSnapshot();
});

test("answers to requests are news, and failures are none", async () => {
  const [changed, { signal }] = [jest.fn(), new AbortController()];
  const failed = { kind: "failed", doing: "", failure: { kind: "conflict", message: "" } } as const;
  const bodies: unknown[] = [];
  const versions = ["2", "3", "4"].map((version) => view("1", version));
  const answer = async (body: unknown) => {
    bodies.push(body);
    const node = versions.shift();
    return node === undefined ? failed : done(node);
  };
  const node = createKnownNode({ getNode: answer, patchNode: answer, patchStatus: answer }, changed);
  expect(node.now).toBeUndefined();
  node.hear({ kind: "read", node: view("1", "1") });
  expect(await node.read(signal)).toMatchObject({ kind: "done", value: { resourceVersion: "2" } });
  await node.patch("1", [{ op: "remove" }], signal);
  await node.patchStatus("1", { status: {} }, signal);
  expect(await node.read(signal)).toBe(failed);
  expect(bodies).toEqual([
    signal,
    [{ op: "test", path: "/metadata/uid", value: "1" }, { op: "remove" }],
    { status: {}, metadata: { uid: "1" } },
    signal,
  ]);
  expect(node.now?.resourceVersion).toBe("4");
  node.hear({ kind: "watched", node: view("1", "3") });
  expect(changed).toHaveBeenCalledTimes(4);
});
