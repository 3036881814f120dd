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

test("a row for each kubelet and driver, a column for each Node", () => {
  const cells = [
    cell("1.20.15", "22.1.0", { outcome: "refused" }),
    cell("1.20.15", "24.0.0", { outcome: "registered" }),
    cell("1.36.3", "22.1.0", { outcome: "registered" }),
  ];
  expect(interopText(cells, conditions)).toBe(
    [
      "Played today. Of 3: 2 registered, 1 refused, 0 failed.",
      "",
      "| Kubelet | Driver | Node 22.1.0 | Node 24.0.0 |",
      "| --- | --- | --- | --- |",
      "| 1.20.15 | Go | refused | registered |",
      "| 1.36.3 | Go | registered | not tried |",
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
  expect(text).toContain("| 1.36.3 | Go | registered | **failed**, 1 |");
  expect(text).toContain("\n1. Kubelet 1.36.3, Go, Node 24.0.0: it said \\<b\\>\\`no\\`\n");
});

describe("docs/interop.md", () => {
  const section = sectionOf(readText("docs/interop.md"), "The table");
  const rows = rowsIn(section);
  const cells = rows.filter((row) => row.length === NODE_LINES.length + 2);

  test("has a row for every kubelet that can be built and every driver", () => {
    const pairs = cells.map(([kubelet, driver]) => [kubelet, driver]);
    expect(pairs).toEqual(allVersions().flatMap((version) => DRIVERS.map(({ name }) => [version, name])));
  });

  test("has a column for every Node", () => {
    const nodes = Array.from(section.matchAll(/\| Node (\d+\.\d+)/g), ([, node = ""]) => node);
    const fits = nodes.map((node, index) => `${node}.`.startsWith(`${NODE_LINES[index]}.`));
    expect(fits).toEqual(NODE_LINES.map(() => true));
  });

  test("has no cell that is not explained", () => {
    expect(new Set(cells.flatMap((row) => row.slice(2)))).toEqual(new Set(["registered", "refused"]));
  });
});
