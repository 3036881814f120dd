import { readText, rowsIn, sectionOf } from "../docs/markdown";
import { allVersions } from "../kubelet/support/versions";
import { NODE_LINES } from "../support/nodes";
import { DRIVERS } from "./drivers";

describe("the table of docs/measurements.md", () => {
  const section = sectionOf(readText("docs/measurements.md"), "Interoperability");
  const head = section.split("\n").find((line) => line.startsWith("| Kubelet |")) ?? "";
  const cells = rowsIn(section).filter((row) => row.length === DRIVERS.length + 2);

  test("has a row for every kubelet that can be built, a column for every driver and one for the official registrar", () => {
    expect(cells.map(([kubelet]) => kubelet)).toEqual(allVersions());
    const columns = ["Kubelet", ...DRIVERS.map(({ name }) => name), "Go, official v2.17.0"];
    expect(head).toBe(`| ${columns.join(" | ")} |`);
  });

  test("names every Node", () => {
    const [, nodes = ""] = /, Node (.*)\. Of/.exec(section) ?? [];
    const lines = nodes.split(", ").map((node, index) => node.slice(0, NODE_LINES[index]?.length));
    expect(lines).toEqual(NODE_LINES);
  });

  test("has no cell that is not explained", () => {
    expect(new Set(cells.flatMap((row) => row.slice(1)))).toEqual(new Set(["registered", "refused"]));
  });
});
