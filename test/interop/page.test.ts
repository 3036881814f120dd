import { readText, rowsIn, sectionOf } from "../docs/markdown";
import { allVersions } from "../kubelet/support/versions";
import { NODE_LINES } from "../matrix/nodes";
import { DRIVERS } from "./drivers";
import { type Cell, interopText } from "./page";

const conditions = {
  summary: "Played today",
  parties: { "Kubelet 1.20.15": "grpc-go 1.27.1", Go: "the mock driver" },
};
const cell = (kubelet: string, node: string, result: Cell["result"]): Cell => ({
  kubelet,
  driver: "Go",
  node,
  result,
});

test("a row for each kubelet, a column for each driver, and a Node where it differs from the others", () => {
  const cells = [
    cell("1.20.15", "22.1.0", { outcome: "refused" }),
    cell("1.20.15", "24.0.0", { outcome: "registered" }),
    cell("1.36.3", "22.1.0", { outcome: "registered" }),
  ];
  expect(interopText(cells, conditions)).toBe(
    [
      "Played today, Node 22.1.0, 24.0.0. Of 3: 2 registered, 1 refused, 0 failed.",
      "",
      "| Kubelet | Go |",
      "| --- | --- |",
      "| 1.20.15 | 22.1.0: refused; 24.0.0: registered |",
      "| 1.36.3 | registered |",
      "",
      "|  | Made of |",
      "| --- | --- |",
      "| Kubelet 1.20.15 | grpc-go 1.27.1 |",
      "| Go | the mock driver |",
    ].join("\n"),
  );
});

test("a failure has its reason under the table, in one line that steers nothing", () => {
  const cells = [
    cell("1.36.3", "22.1.0", { outcome: "registered" }),
    cell("1.36.3", "24.0.0", { problem: "it\nsaid <b>`no`" }),
  ];
  const text = interopText(cells, conditions);
  expect(text).toContain("Of 2: 1 registered, 0 refused, 1 failed.");
  expect(text).toContain("| 1.36.3 | 22.1.0: registered; 24.0.0: **failed**, 1 |");
  expect(text).toContain("\n1. Kubelet 1.36.3, Go, Node 24.0.0: it said \\<b\\>\\`no\\`\n");
});

describe("the table of docs/measurements.md", () => {
  const section = sectionOf(readText("docs/measurements.md"), "Interoperability");
  const head = section.split("\n").find((line) => line.startsWith("| Kubelet |")) ?? "";
  const cells = rowsIn(section).filter((row) => row.length === DRIVERS.length + 1);

  test("has a row for every kubelet that can be built, and a column for every driver", () => {
    expect(cells.map(([kubelet]) => kubelet)).toEqual(allVersions());
    expect(head).toBe(`| ${["Kubelet", ...DRIVERS.map(({ name }) => name)].join(" | ")} |`);
  });

  test("names every Node", () => {
    const [, nodes = ""] = /, Node (.*)\. Of/.exec(section) ?? [];
    const fits = nodes.split(", ").map((node, index) => `${node}.`.startsWith(`${NODE_LINES[index]}.`));
    expect(fits).toEqual(NODE_LINES.map(() => true));
  });

  test("has no cell that is not explained", () => {
    expect(new Set(cells.flatMap((row) => row.slice(1)))).toEqual(new Set(["registered", "refused"]));
  });
});
